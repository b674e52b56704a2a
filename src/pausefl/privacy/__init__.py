"""Local differential privacy of updates: schedule, mechanism, ledger (PAUSE v2, Sections II-B and III-A)."""

from pausefl.privacy.laplace import CoordinateMechanism
from pausefl.privacy.ledger import Ledger
from pausefl.privacy.schedule import GeometricSchedule

__all__ = ["CoordinateMechanism", "GeometricSchedule", "Ledger"]
