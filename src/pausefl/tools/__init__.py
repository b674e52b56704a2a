"""Tools of the repository, run with ``python -m pausefl.tools.NAME``; the library imports none of them."""
