"""Plot a study, and write the tables derived from what it computed."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.figures.notes import code_notes
from pausefl.figures.style import add_notes, save, to_latex
from pausefl.files import write_text
from pausefl.results.published import study_codes
from pausefl.studies import study_of
from pausefl.studies.base import read_tables, write_tables
from pausefl.workflow.copies import study_folder

output, params = snakemake.output, snakemake.params
with logged(snakemake.log[0]):
    study = study_of(params.kind, params.study, params.title)
    files, folder = study.files(study.data), Path(output.png).parent
    source = study_folder(snakemake.input[0], files[0])
    computed = read_tables(source, files)
    plotted = study.plot(computed)
    write_tables(plotted.tables, folder, [file for file in study.tables if file.endswith(".csv")])
    if plotted.markdown is not None:
        write_text(folder / "summary.md", plotted.markdown)
    notes = study.notes()
    add_notes(plotted.figure, notes)
    codes = study_codes(source, study.code_files())
    notes += code_notes(codes, params.versions)
    metadata = {"study": params.study, "data": params.data, "notes": notes, "code_hashes": codes}
    save(plotted.figure, Path(output.png).with_suffix(""), metadata)
    # The shortest table is the summary, where there is one.
    write_text(Path(output.tex), to_latex(min((*plotted.tables.values(), *computed.values()), key=len)))
