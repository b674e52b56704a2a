"""Plot a study, and write the tables derived from what it computed."""

from common import logged

from pathlib import Path

from pausefl.figures.notes import code_notes, seed_notes
from pausefl.figures.style import add_notes, save
from pausefl.files import replacing
from pausefl.registry import STUDIES
from pausefl.results.published import study_codes
from pausefl.settings.studies import study_from_dict
from pausefl.studies.tables import read_tables, write_tables

output, params = snakemake.output, snakemake.params
with logged(snakemake.log[0]):
    record, study = STUDIES[params.kind], study_from_dict(params.kind, params.study, params.title)
    folder = Path(output.png).parent
    plotted = record.load_plot()(read_tables(Path(params.folder), record.data_files(study)), study)
    write_tables(plotted.tables, folder, [file for file in record.tables if file.endswith(".csv")])
    if plotted.markdown is not None:
        with replacing(folder / "summary.md") as (staged,):
            staged.write_text(plotted.markdown, encoding="utf-8")
    notes = seed_notes(getattr(study, "seeds", ()))
    add_notes(plotted.figure, notes)
    codes = study_codes(Path(params.folder), record.code_files(study))
    notes += code_notes(codes, params.versions)
    metadata = {"study": params.study, "data": list(snakemake.input), "notes": notes, "code_hashes": codes}
    save(plotted.figure, Path(output.png).with_suffix(""), metadata)
