"""Local differential privacy of updates (PAUSE v2, Sections II-B and III-A).

A `Schedule` gives each participation a budget. A `Mechanism` bounds an update and sets the scale of its
noise, a `Sampler` samples the noise, and `Protection` applies both; `LossProtection` does so for a reported
training loss. An `Accountant` says what participations add up to; the `Ledger` has the account of each user,
and admits users.
"""

from pausefl.privacy.accountants import ACCOUNTANTS, Accountant, PureAccountant, ZcdpAccountant
from pausefl.privacy.ledger import Ledger
from pausefl.privacy.mechanisms import MECHANISMS, CoordinateMechanism, Mechanism, VectorMechanism
from pausefl.privacy.protection import Protection
from pausefl.privacy.reported_losses import LossProtection
from pausefl.privacy.samplers import SAMPLERS, Sampler, SecureSampler, SimulatedSampler
from pausefl.privacy.schedule import (
    SCHEDULES,
    ConstantSchedule,
    GeometricSchedule,
    Schedule,
    UniformSchedule,
)
from pausefl.privacy.settings import PrivacySettings

__all__ = [
    "ACCOUNTANTS",
    "MECHANISMS",
    "SAMPLERS",
    "SCHEDULES",
    "Accountant",
    "ConstantSchedule",
    "CoordinateMechanism",
    "GeometricSchedule",
    "Ledger",
    "LossProtection",
    "Mechanism",
    "PrivacySettings",
    "Protection",
    "PureAccountant",
    "Sampler",
    "Schedule",
    "SecureSampler",
    "SimulatedSampler",
    "UniformSchedule",
    "VectorMechanism",
    "ZcdpAccountant",
]
