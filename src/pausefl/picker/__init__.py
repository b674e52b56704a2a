"""Selection for a training loop of one's own, in any framework: ids of clients in, ids out."""

from pausefl.picker.given import DEFAULTS
from pausefl.picker.picker import REWARD, Picker
from pausefl.picker.state import State

__all__ = ["DEFAULTS", "REWARD", "Picker", "State"]
