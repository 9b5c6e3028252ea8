"""Working directories that tests share, so that their data are prepared once."""

import pytest
from workflow.calling import Workplace, make_workplace, write_little, write_scale


@pytest.fixture(scope="session")
def place(root, tmp_path_factory) -> Workplace:
    """A working directory with the data set `little` and the scale `long`."""
    made = make_workplace(tmp_path_factory.mktemp("place"), root / "Snakefile")
    write_little(made)
    write_scale(made)
    return made


@pytest.fixture(scope="session")
def czeng(root, shared, tmp_path_factory) -> Workplace:
    """A working directory that finds the real corpora."""
    return make_workplace(tmp_path_factory.mktemp("czeng"), root / "Snakefile", shared / "data")


@pytest.fixture
def empty(root, tmp_path) -> Workplace:
    """A working directory without any file."""
    return make_workplace(tmp_path, root / "Snakefile")
