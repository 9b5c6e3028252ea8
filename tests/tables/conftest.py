"""Projects as in the tests of planning, and the results folder of the tests of what is made of results."""

from planning.conftest import make_project
from reporting.conftest import layout

__all__ = ["layout", "make_project"]
