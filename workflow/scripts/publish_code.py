"""Publish the hashes of the code that computed a study."""

from common import logged

import json
from pathlib import Path

from pausefl.registry import STUDIES
from pausefl.results.reading import study_codes
from pausefl.settings.studies import study_from_dict

params = snakemake.params
with logged(snakemake.log[0]):
    record, study = STUDIES[params.kind], study_from_dict(params.kind, params.study)
    codes = study_codes(Path("results/studies", snakemake.wildcards.study), record, study)
    Path(snakemake.output[0]).write_text(json.dumps(codes, indent=1) + "\n", encoding="utf-8")
