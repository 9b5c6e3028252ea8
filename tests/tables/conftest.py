"""Projects as in the tests of planning."""

from planning.conftest import make_project

__all__ = ["make_project"]
