"""Documentation, verification of published runs, kernels: run with ``python -m``, imported by nobody."""
