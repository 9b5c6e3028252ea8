"""Fixtures that several stages share."""

import fcntl
import os
from pathlib import Path

import pytest
from hypothesis import settings

# Read when torch is loaded, also by the processes that tests start: threads that wait for one another on a busy
# machine make small models ten times slower.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# No timed tests: a busy machine is no fault of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real corpora and parsers beside the checkout; in CI it must be there."""
    folder = ROOT.parent / "shared"
    if not (folder / "data").is_dir():
        missing(f"the real corpora and parsers of {folder.name}/ are not beside the checkout")
    return folder


@pytest.fixture(scope="session")
def tiny_stanza(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small trained Stanza pipeline of English: `stanza_en`; processes of one run share it."""
    from annotation.tiny_stanza import train_tiny_stanza

    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "tiny_stanza"
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "trained").exists():
            train_tiny_stanza(folder / "stanza_en", shared / "data" / "ud" / "en_ewt_dev.conllu")
            (folder / "trained").touch()
    return folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that hold slow tests: processes that share the files then end at about the same time."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def missing(what: str) -> None:
    """Skip a test that lacks something on a user's machine; fail it in CI, which must have everything."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI must have it: {what}", pytrace=False)
    pytest.skip(what)
