"""Which code and which machine made a result."""

from pausefl.provenance.code import code_hash, job_code
from pausefl.provenance.machine import hardware, peak_memory_bytes, versions

__all__ = ["code_hash", "hardware", "job_code", "peak_memory_bytes", "versions"]
