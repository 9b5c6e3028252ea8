"""The wheel: its files, and what it does in an environment with its dependencies alone, without the repository."""

import ast
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from called import call_nmtcore
from factories import run_settings
from inference.test_parse import GOLD
from inference.tiny import write_bundle
from packaging.requirements import Requirement

from nmtcore.config.components import DepParseSettings
from nmtcore.errors import EXTRAS
from nmtcore.training.attempts import code_version

SITE_PACKAGES = Path(sysconfig.get_path("purelib"))
TEXT = "The cat, the dog.\n\nthe cat 's dog\n"


class Clean(NamedTuple):
    """An environment that is not that of the tests, and a folder to work in."""

    python: Path
    folder: Path

    def run(self, *command: str, text: str = "", code: int = 0) -> tuple[str, str]:
        """Run a command of the environment with nothing else on the path; return its output and errors."""
        variables = {"PATH": str(self.python.parent), "HOME": str(self.folder), "OMP_NUM_THREADS": "1"}
        process = subprocess.run(
            [self.python.parent / command[0], *command[1:]],
            **{"input": text, "encoding": "utf-8", "cwd": self.folder, "env": variables},
            capture_output=True,
            check=False,
        )
        assert process.returncode == code, process.stderr
        return process.stdout, process.stderr


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as the documentation says, from the files that the package has."""
    sources, built = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, sources)
    shutil.copytree(
        root / "src/nmtcore", sources / "src/nmtcore", ignore=shutil.ignore_patterns("__pycache__", "*.pyc")
    )
    pip("wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", str(built), str(sources))
    (path,) = built.iterdir()
    return path


@pytest.fixture(scope="module")
def clean(wheel: Path, project: dict, tmp_path_factory: pytest.TempPathFactory) -> Clean:
    """An environment into which pip has installed the wheel; its dependencies are links to those of the tests."""
    folder = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    (packages,) = (folder / "venv").glob("lib/python*/site-packages")
    for name in dict.fromkeys(files_of(closure(project["dependencies"]))):
        (packages / name).symlink_to(SITE_PACKAGES / name)
    (folder / "work").mkdir()
    # pip fails if a dependency is missing, or is not of a version that the wheel asks for.
    pip("--python", str(folder / "venv"), "install", "--no-compile", str(wheel))
    return Clean(folder / "venv/bin/python", folder / "work")


def pip(*arguments: str) -> None:
    """Run pip without a network and without settings."""
    variables = {**os.environ, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    variables = {name: text for name, text in variables.items() if name not in ("PYTHONPATH", "PIP_FIND_LINKS")}
    process = subprocess.run(
        [sys.executable, "-m", "pip", *arguments], capture_output=True, check=False, env=variables, encoding="utf-8"
    )
    assert process.returncode == 0, process.stdout + process.stderr


def files_of(distributions: Iterable[str]) -> Iterator[str]:
    """Yield what distributions have in site-packages."""
    for name in distributions:
        first_parts = {path.parts[0] for path in importlib.metadata.files(name)}
        yield from sorted(first_parts - {"..", "__pycache__", "bin"})


def closure(requirements: Iterable[str]) -> list[str]:
    """List the distributions that requirements name, and those that these require in turn."""
    names: list[str] = []
    for text in (remaining := [*requirements]):
        requirement = Requirement(text)
        if distribution(text) not in names and (not requirement.marker or requirement.marker.evaluate({"extra": ""})):
            names.append(distribution(text))
            remaining += importlib.metadata.requires(requirement.name) or ()
    return names


def distribution(requirement: str) -> str:
    """Return the normalised name in a requirement."""
    return re.sub("[-_.]+", "-", Requirement(requirement).name).lower()


@pytest.fixture(scope="module")
def project(root: Path) -> dict:
    """The metadata in pyproject.toml."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def model(clean: Clean) -> Path:
    """A model that parses, in a folder of the clean environment."""
    run = run_settings(DepParseSettings(layer=1), words="moses")
    (clean.folder / "gold.conllu").write_text(GOLD)
    return write_bundle(clean.folder / "model", run)


def test_the_wheel_has_the_files_of_the_package(wheel: Path, root: Path):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    package = root / "src/nmtcore"
    files = {str(path.relative_to(root / "src")) for path in package.rglob("*") if path.is_file()}
    assert names == {name for name in files if not name.endswith(".pyc")}


@pytest.mark.parametrize(
    "arguments",
    [
        "translate model --beam 2",
        "show model --treebank gold.conllu",
        "score ref a b --ribes --multi-bleu",
    ],
)
def test_commands_do_the_same_as_in_the_repository(clean, model, arguments, monkeypatch):
    for name, text in (("ref", "the cat sees the old dog\n"), ("a", "the cat sees the dog\n"), ("b", "a cat\n")):
        (clean.folder / name).write_text(text * 3)
    output, errors = clean.run("nmtcore", *arguments.split(), text=TEXT)
    monkeypatch.chdir(clean.folder)
    assert call_nmtcore(*arguments.split(), text=TEXT) == (0, output, errors)
    assert output.count("\n") >= 3


def test_the_wheel_records_the_checksum_of_the_repositorys_sources_and_no_lock(clean: Clean, root: Path):
    code = "import json; from nmtcore.training.attempts import code_version; print(json.dumps(code_version()))"
    expected = code_version(root / "src/nmtcore") | {"commit": None, "lock_sha256": None}
    assert json.loads(clean.run("python", "-I", "-c", code)[0]) == expected


def test_all_packages_that_the_source_imports_are_in_an_extra(root: Path, project: dict):
    """Packages of the core need no message: pip has installed them."""
    imported = set()
    for path in (root / "src/nmtcore").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module)
    imported = {name.split(".")[0] for name in imported} - sys.stdlib_module_names - {"nmtcore"}
    core = {*map(distribution, project["dependencies"]), "pydantic-core", "typing-extensions"}  # come with pydantic
    providers = importlib.metadata.packages_distributions()
    others = {name for name in imported if not {distribution(own) for own in providers.get(name, [name])} & core}
    extras = {name: {*map(distribution, texts)} for name, texts in project["optional-dependencies"].items()}
    extras["workflow"] |= {"markupsafe", "urllib3"}  # come with jinja2 and requests
    for name in others:
        extra = extras[EXTRAS.get(name, "workflow")]
        assert {distribution(own) for own in providers.get(name, [name])} & extra, name
