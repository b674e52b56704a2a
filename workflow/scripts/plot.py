"""Plot a study, and write the tables derived from what it computed."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.figures.notes import code_notes
from pausefl.figures.style import add_notes, save, to_latex
from pausefl.files import write_text
from pausefl.results.published import study_codes
from pausefl.studies import study_of
from pausefl.studies.base import read_tables, write_tables

output, params = snakemake.output, snakemake.params
with logged(snakemake.log[0]):
    study = study_of(params.kind, params.study, params.title)
    folder = Path(output.png).parent
    computed = read_tables(Path(params.folder), study.files(study.data))
    plotted = study.plot(computed)
    write_tables(plotted.tables, folder, [file for file in study.tables if file.endswith(".csv")])
    if plotted.markdown is not None:
        write_text(folder / "summary.md", plotted.markdown)
    notes = study.notes()
    add_notes(plotted.figure, notes)
    codes = study_codes(Path(params.folder), study.code_files())
    notes += code_notes(codes, params.versions)
    metadata = {"study": params.study, "data": list(snakemake.input), "notes": notes, "code_hashes": codes}
    save(plotted.figure, Path(output.png).with_suffix(""), metadata)
    # The shortest table is the summary, where there is one.
    write_text(Path(output.tex), to_latex(min((*plotted.tables.values(), *computed.values()), key=len)))
