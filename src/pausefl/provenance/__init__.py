"""Which code and which machine made a result."""

from pausefl.provenance.code import Code, changes, code_hash, job_code, scenario_records
from pausefl.provenance.machine import hardware, peak_memory_bytes, versions

__all__ = [
    "Code",
    "changes",
    "code_hash",
    "hardware",
    "job_code",
    "peak_memory_bytes",
    "scenario_records",
    "versions",
]
