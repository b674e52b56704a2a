"""Local differential privacy of updates (PAUSE v2, Sections II-B and III-A): who may spend what, on what.

A `Schedule` gives a participation its budget, a `Mechanism` bounds an update and says how much noise that
takes, a `Sampler` draws it, `Protection` puts them together; the `Ledger` keeps the account and admits users.
"""

from pausefl.privacy.ledger import Ledger
from pausefl.privacy.mechanisms import CoordinateMechanism, Mechanism, VectorMechanism, make_mechanism
from pausefl.privacy.protection import Protection
from pausefl.privacy.samplers import Sampler, SecureSampler, SimulatedSampler, make_sampler
from pausefl.privacy.schedule import (
    GeometricSchedule,
    ListedSchedule,
    Schedule,
    UniformSchedule,
    make_schedule,
)

__all__ = [
    "CoordinateMechanism",
    "GeometricSchedule",
    "Ledger",
    "ListedSchedule",
    "Mechanism",
    "Protection",
    "Sampler",
    "Schedule",
    "SecureSampler",
    "SimulatedSampler",
    "UniformSchedule",
    "VectorMechanism",
    "make_mechanism",
    "make_sampler",
    "make_schedule",
]
