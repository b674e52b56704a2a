"""Local differential privacy of updates (PAUSE v2, Sections II-B and III-A).

A `Schedule` gives each participation a budget. A `Mechanism` bounds an update and sets the scale of its
noise, a `Sampler` samples the noise, and `Protection` applies both; `LossProtection` does so for a reported
training loss. The `Ledger` accounts for what each user
has spent, and admits users.
"""

from pausefl.privacy.ledger import Ledger
from pausefl.privacy.losses import LossProtection, loss_share, losses_reported
from pausefl.privacy.mechanisms import CoordinateMechanism, Mechanism, VectorMechanism, make_mechanism
from pausefl.privacy.protection import Protection
from pausefl.privacy.samplers import Sampler, SecureSampler, SimulatedSampler, make_sampler
from pausefl.privacy.schedule import (
    GeometricSchedule,
    Schedule,
    UniformSchedule,
    make_schedule,
)

__all__ = [
    "CoordinateMechanism",
    "GeometricSchedule",
    "Ledger",
    "LossProtection",
    "Mechanism",
    "Protection",
    "Sampler",
    "Schedule",
    "SecureSampler",
    "SimulatedSampler",
    "UniformSchedule",
    "VectorMechanism",
    "loss_share",
    "losses_reported",
    "make_mechanism",
    "make_sampler",
    "make_schedule",
]
