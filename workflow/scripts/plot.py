"""Plot studies of a kind, and write the tables derived from what they computed."""

from pausefl.workflow.step import logged

import traceback
from pathlib import Path

from pausefl.errors import PauseflError
from pausefl.figures.style import add_notes, save
from pausefl.files import write_text
from pausefl.studies import Study, study_of
from pausefl.studies.base import read_tables, write_tables
from pausefl.workflow.copies import study_folder

output, params = snakemake.output, snakemake.params


def plot(study: Study, source: Path, stem: Path, metadata: dict) -> None:
    """Plot a study computed in the folder ``source``, and write its tables beside the figure."""
    folder = stem.parent
    computed = read_tables(source, study.files(study.data))
    plotted = study.plot(computed)
    write_tables(plotted.tables, folder, [file for file in study.tables if file.endswith(".csv")])
    if plotted.markdown is not None:
        write_text(folder / "summary.md", plotted.markdown)
    notes = study.notes()
    add_notes(plotted.figure, notes)
    save(plotted.figure, stem, metadata | {"notes": notes})


with logged(snakemake.log[0]) as note:
    failed = []
    files = iter(snakemake.input)
    for png, (name, settings, title, data) in zip(output.png, params.studies, strict=True):
        first, *_ = [next(files) for _ in data]
        try:
            study = study_of(params.kind, settings, title)
            source = study_folder(first, study.files(study.data)[0])
            plot(study, source, Path(png).with_suffix(""), {"study": settings, "data": data})
        except Exception as error:
            note(f"{name}: {error if isinstance(error, PauseflError) else traceback.format_exc()}")
            failed.append(name)
    if failed:
        raise PauseflError(f"not plotted: {', '.join(failed)}; the reasons are above")
