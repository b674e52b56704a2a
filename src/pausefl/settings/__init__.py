"""What to run: every setting, checked before anything runs."""

from pausefl.settings.changes import with_changes
from pausefl.settings.config import Config, Experiment, RawData, load_config, load_places
from pausefl.settings.load import SHIPPED, home, load_scenario, scenario_file, scenario_names
from pausefl.settings.scenario import (
    SCALES,
    DataSettings,
    ModelSettings,
    NetworkSettings,
    PartitionSettings,
    PrivacySettings,
    RewardSettings,
    Scenario,
    SelectionSettings,
    TrainingSettings,
)
from pausefl.settings.yaml import read_yaml

__all__ = [
    "SCALES",
    "SHIPPED",
    "Config",
    "DataSettings",
    "Experiment",
    "ModelSettings",
    "NetworkSettings",
    "PartitionSettings",
    "PrivacySettings",
    "RawData",
    "RewardSettings",
    "Scenario",
    "SelectionSettings",
    "TrainingSettings",
    "home",
    "load_config",
    "load_places",
    "load_scenario",
    "read_yaml",
    "scenario_file",
    "scenario_names",
    "with_changes",
]
