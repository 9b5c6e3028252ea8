"""Untrusted bundles and the working directory run no code: models of parsers come only from the user's folders."""

import subprocess
import sys

import pytest
from called import call_nmtcore
from factories import run_settings
from inference.tiny import write_bundle
from planted_models import plant_model, plant_package

from nmtcore.config.components import PascalSettings

TOOLS = ("corenlp", "easyccg", "stanza", "udpipe", "spacy")
COMMANDS = {"translate": [], "parse": ["--attention", "0.0"]}


@pytest.fixture
def mark(tmp_path, monkeypatch):
    """The file that planted code would create; the working directory is empty, and no models are configured."""
    # spaCy caches its plug-ins when it is imported, and other tests share this process.
    import catalogue  # noqa: F401

    monkeypatch.setenv("MARK", str(tmp_path / "mark"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "mark"


def bundle(folder, tool, model):
    parser = {"tool": tool, "model": model}
    syntax = {"source": {"trees": "parser"}}
    return write_bundle(folder, run_settings(PascalSettings(heads=1), features=syntax, annotators={"parser": parser}))


def error_of(command, *arguments):
    """Run a command that must fail with one sentence; return the sentence."""
    called = call_nmtcore(command, *arguments, *COMMANDS[command], text="the cat\n")
    assert (called.code, called.output, called.errors.count("\n")) == (2, "", 1)
    assert called.errors.startswith(f"nmtcore {command}: ")
    return called.errors


LOCATIONS = {
    "absolute": ("{root}/sent/parser", "sent/parser", "here"),
    "in the working directory": ("parser", "here/parser", "here"),
    "the bundle itself": (".", "bundle/model", "bundle/model"),
}
"""The name of a model in the bundle, the folder to which it would lead if names were paths, the working directory."""


@pytest.mark.parametrize("location", LOCATIONS)
@pytest.mark.parametrize("tool", TOOLS)
def test_names_in_a_bundle_are_not_paths(tmp_path, mark, monkeypatch, tool, location):
    name, planted, here = (part.format(root=tmp_path) for part in LOCATIONS[location])
    model = bundle(tmp_path / "bundle" / "model", tool, name)
    plant_model(tmp_path / planted, tool)
    here = tmp_path / here
    monkeypatch.chdir(here)
    monkeypatch.syspath_prepend(str(here))  # as `python -m` does
    for command in COMMANDS:
        sentence = error_of(command, model)
        assert not mark.exists()
        assert "--models" in sentence
        assert "There is no " in sentence if name == "parser" else "run.json: annotators.parser: " in sentence


def test_nothing_is_imported_from_the_working_directory(tmp_path, mark):
    """Neither a plug-in of spaCy nor a module with the name of one that the package imports."""
    plant_package(tmp_path / "here" / "parser")
    plant_package(tmp_path / "here" / "torch")
    model = bundle(tmp_path / "model", "spacy", "parser")
    command = [sys.executable, "-m", "nmtcore", "translate", str(model)]
    process = subprocess.run(command, input=b"the\n", capture_output=True, cwd=tmp_path / "here", check=False)
    assert process.returncode == 2, process.stderr.decode()
    assert process.stderr.startswith(b"nmtcore translate: There is no spaCy model 'parser'")
    assert not mark.exists()
