"""What to run: every setting, checked before anything runs."""

from pausefl.bandit.settings import NetworkSettings, RewardSettings
from pausefl.data.settings import DataSettings, PartitionSettings, RawData
from pausefl.privacy.settings import PrivacySettings
from pausefl.schema.yaml import read_yaml
from pausefl.selectors.settings import SelectionSettings
from pausefl.settings.dotted_keys import with_changes
from pausefl.settings.load import SHIPPED, home, load_scenario, scenario_file, scenario_names
from pausefl.settings.scenario import SCALES, Scenario
from pausefl.training.settings import ModelSettings, TrainingSettings

__all__ = [
    "SCALES",
    "SHIPPED",
    "DataSettings",
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
    "load_scenario",
    "read_yaml",
    "scenario_file",
    "scenario_names",
    "with_changes",
]
