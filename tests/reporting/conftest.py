"""The results folder of tests of what is made of results."""

import pytest

from nmtcore.layout import Layout


@pytest.fixture
def layout(tmp_path) -> Layout:
    """Folders of results, at two scales, and of downloads in the folder of the test."""
    return Layout(results=str(tmp_path / "results"), downloads=str(tmp_path / "downloads"), scales=("quick", "small"))
