"""Every mechanism, schedule and sampler of local privacy, and what the rest of the package must know of it.

``requires`` lists the settings that must be given, as dotted keys; a key that another record of the same
registry requires must not be given. ``caption`` is a sentence for captions of figures, "" for none; it is
formatted with the keys of the privacy settings. ``about`` says what it is, for the reference of settings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pausefl.registry.base import Record, Registry


@dataclass(frozen=True)
class MechanismRecord(Record):
    """A mechanism's class and what checks, tables and captions must know of it."""

    #: What ``epsilon_total`` is for: a ``coordinate`` of the update, or the ``update`` as a whole.
    protects: Literal["coordinate", "update"]
    requires: tuple[str, ...] = ()
    caption: str = field(default="", repr=False)
    about: str = field(default="", repr=False)


@dataclass(frozen=True)
class ScheduleRecord(Record):
    """A schedule's class and what checks and captions must know of it."""

    requires: tuple[str, ...] = ()
    caption: str = field(default="", repr=False)
    about: str = field(default="", repr=False)


@dataclass(frozen=True)
class SamplerRecord(Record):
    """A sampler's class and what captions must know of it."""

    caption: str = field(default="", repr=False)
    about: str = field(default="", repr=False)


#: In the order of the reference of settings, like the two below.
MECHANISMS: Registry[MechanismRecord] = Registry(
    "mechanism",
    {
        "coordinate": MechanismRecord(
            "pausefl.privacy.mechanisms:CoordinateMechanism",
            protects="coordinate",
            requires=("privacy.sensitivity",),
            caption=(
                "Each user has a budget of ε = {epsilon_total} per coordinate; sensitivity {sensitivity} per"
                " coordinate."
            ),
            about="every coordinate clamped, its noise hides that coordinate",
        ),
        "vector": MechanismRecord(
            "pausefl.privacy.mechanisms:VectorMechanism",
            protects="update",
            requires=("privacy.clip_norm",),
            caption=(
                "Each user has a budget of ε = {epsilon_total} for its updates as a whole, which are clipped"
                " to L1 norm {clip_norm}."
            ),
            about="the update clipped in L1 norm, its noise hides the update as a whole",
        ),
    },
)

SCHEDULES: Registry[ScheduleRecord] = Registry(
    "schedule",
    {
        "geometric": ScheduleRecord(
            "pausefl.privacy.schedule:GeometricSchedule",
            requires=("privacy.decay",),
            about="over participations without end, with `decay`",
        ),
        "uniform": ScheduleRecord(
            "pausefl.privacy.schedule:UniformSchedule",
            requires=("privacy.n_participations",),
            caption="It is spread evenly over {n_participations} participations; there are no more.",
            about="in equal parts over `n_participations`",
        ),
    },
)

SAMPLERS: Registry[SamplerRecord] = Registry(
    "sampler",
    {
        "simulated": SamplerRecord(
            "pausefl.privacy.samplers:SimulatedSampler",
            about="noise from the seed, so that runs can be repeated",
        ),
        "secure": SamplerRecord(
            "pausefl.privacy.samplers:SecureSampler",
            caption=(
                "Noise comes from the operating system's randomness, so no run can be repeated exactly."
            ),
            about="discrete noise on a grid from the operating system's randomness; runs differ",
        ),
    },
)
