"""Studies of selection alone, and audits of the noise: nothing is trained and no data are read.

`pausefl.settings.studies` says what is studied; each other module is one kind of study, from its settings to
a tidy table. Figures are in `pausefl.figures`.
"""
