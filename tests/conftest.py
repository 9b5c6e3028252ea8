"""Fixtures and settings for the tests of all stages."""

import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
import yaml
from hypothesis import settings

if TYPE_CHECKING:
    from browser import Browser

# torch reads this when it is loaded, also in the processes that tests start. On a busy machine, threads that wait for
# each other make small models ten times slower. An annotator sets all three, and no test should notice whether it ran.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
# Some virtual machines report AMX, which torch uses for bf16, and end a process that executes it.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")

# Waiting until the disk has what was written takes a tenth of the tests' time, and no test can see the difference.
os.fsync = lambda descriptor: None

# No deadlines: a busy machine is not a defect of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# Tests write settings that share values, but configuration files have no aliases.
yaml.SafeDumper.ignore_aliases = lambda dumper, value: True

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _own_environment() -> Iterator[None]:
    """Undo what a test, or the code that it called, changed in the environment."""
    before = dict(os.environ)
    yield
    for name in os.environ.keys() - before.keys():
        del os.environ[name]
    os.environ.update(before)


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture
def amd_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """amd_processor(): from here on, the processor is an AMD with AVX-512, or what the arguments say.

    It returns what computes linear layers.
    """
    import torch

    from nmtcore.model import device, linear

    def use(
        capability: str = "AVX512", cpuinfo: str = "vendor_id\t: AuthenticAMD\nmodel name\t: A processor\n"
    ) -> None:
        (tmp_path / "cpuinfo").write_text(cpuinfo)
        monkeypatch.setattr(device, "_PROCESSORS", tmp_path / "cpuinfo")
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
        decide.cache_clear()
        return decide()

    decide = linear._on_cpu
    yield use
    decide.cache_clear()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real corpora and parsers, next to the checkout; required in CI."""
    folder = ROOT.parent / "shared"
    if not (folder / "data").is_dir():
        skip_unless_ci(f"the real corpora and parsers of {folder.name}/ are not next to the checkout")
    return folder


@pytest.fixture(scope="session")
def tiny_stanza(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small Stanza pipeline for English, `stanza_en`; pytest's workers share it."""
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


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """A running Chromium (tests/browser.py); required in CI."""
    from browser import chromium_path, running_browser

    # Not for the whole session: Playwright's event loop would be in the way of tests that start one.
    with running_browser(chromium_path()) as running:
        yield running


NEEDED_BY_FIXTURE = {"shared": "shared", "tiny_stanza": "shared", "browser": "Chromium", "wheel": "wheel"}
"""What a test needs that uses one of these fixtures; other tests say it themselves (`@pytest.mark.needs`)."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what their fixtures need, and run the files that need much first: workers then end together."""
    for item in items:
        for need in sorted({NEEDED_BY_FIXTURE[name] for name in NEEDED_BY_FIXTURE.keys() & set(item.fixturenames)}):
            item.add_marker(pytest.mark.needs(need))
    demanding = {item.path for item in items if item.get_closest_marker("needs")}
    items.sort(key=lambda item: (item.path not in demanding, item.path.parent.name != "workflow"))


def skip_unless_ci(reason: str) -> NoReturn:
    """Skip a test or a file because something is missing on this machine; fail in CI, where nothing may be missing."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"required in CI: {reason}", pytrace=False)
    pytest.skip(reason, allow_module_level=True)
