"""Privacy-aware bandit user selection for federated learning, reproduced from raw data to figures."""

__version__ = "0.1.0"
