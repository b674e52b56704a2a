"""All that a selector must do: `python -m pytest` (after `pip install pytest`)."""

from pausefl.testing import SelectorContract


class TestLeastUsed(SelectorContract):
    """Each rule that every selector must keep is a test of this class."""

    selector = "my_selector:LeastUsed"
