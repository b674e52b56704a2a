"""What to run: every setting, checked before anything runs."""

from pausefl.settings.config import Config, Experiment, RawData, load_config
from pausefl.settings.load import load_scenario, scenario_from_dict, scenario_names
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
    "load_config",
    "load_scenario",
    "read_yaml",
    "scenario_from_dict",
    "scenario_names",
]
