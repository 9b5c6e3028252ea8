"""Working directories shared by tests, so that their data are prepared only once."""

import pytest
from workflow.calling import BRIEF, Workplace, make_workplace, write_little, write_scale
from workflow.planner import Planner, Rules


@pytest.fixture(scope="session")
def workplace(root, tmp_path_factory) -> Workplace:
    """A working directory with the data set `little` and the scales `brief` and `long`."""
    directory = make_workplace(tmp_path_factory.mktemp("workplace"), root / "Snakefile")
    write_little(directory)
    write_scale(directory)
    directory.write("scales/brief", BRIEF)
    return directory


@pytest.fixture
def empty(root, tmp_path) -> Workplace:
    """An empty working directory."""
    return make_workplace(tmp_path, root / "Snakefile")


@pytest.fixture(scope="session")
def rules(root, tmp_path_factory) -> Rules:
    """The rules of the Snakefile, loaded into this process."""
    return Rules(root / "Snakefile", tmp_path_factory.mktemp("rules"))


@pytest.fixture
def planner(rules, tmp_path, monkeypatch) -> Planner:
    """Plans in this process, in an empty working directory."""
    monkeypatch.chdir(tmp_path)
    return Planner(rules)
