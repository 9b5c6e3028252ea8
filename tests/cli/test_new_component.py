"""`nmtcore new component`: a file, a system and a test that fails until the component is written."""

import re
import subprocess
import sys

import pytest
from called import call_nmtcore
from forked import call_forked
from full_disk import largest_file

from nmtcore.cli import main
from nmtcore.config.features import FEATURES
from nmtcore.model.testing import RANDOM_LABELS

BEFORE = "        return embedded_BSD\n"
AFTER = "        return embedded_BSD + self.settings.strength * self.vector_D.to(embedded_BSD.dtype)\n"


@pytest.fixture
def folder(tmp_path, capsys):
    """A working folder with a new component."""
    main(["new", "component", "my_vector", "--folder", str(tmp_path / "mine")])
    output = capsys.readouterr().out
    assert output.startswith(f"Made the folder {tmp_path}/mine.\nWrote ")
    assert f"pytest {tmp_path}/mine/tests/test_my_vector.py" in output
    return tmp_path / "mine"


def run(*command):
    return subprocess.run([sys.executable, "-m", *map(str, command)], capture_output=True, text=True, check=False)


VARIANTS = {
    "my_vector": (BEFORE, ("changes_the_scores", "every_parameter"), "it changes nothing yet: write embed_source"),
    "written": (AFTER, (), ""),
    "mixed": (
        AFTER.replace("self.vector_D", "embedded_BSD.mean(0, keepdim=True) * self.vector_D"),
        ("alone_and_in_a_batch",),
        "reads other sentences of the batch",
    ),
}
"""Ways to write a component, the tests that then fail, and what they say; all are tested in one process."""


def test_the_test_fails_until_the_component_is_written(folder):
    for name, (written, _, _) in VARIANTS.items():
        if name != "my_vector":
            main(["new", "component", name, "--folder", str(folder)])
        code = folder / f"config/components/{name}.py"
        text = code.read_text(encoding="utf-8")
        assert text.count(BEFORE) == 1
        code.write_text(text.replace(BEFORE, written), encoding="utf-8")
    output = run("pytest", "-v", "-rf", "-p", "no:cacheprovider", folder / "tests").stdout
    for name, (_, failing, sentence) in VARIANTS.items():
        ended = dict(re.findall(rf"test_{name}\.py::test_(\w+) (PASSED|FAILED) ", output))
        assert len(ended) == 4, output
        failed = {test for test, end in ended.items() if end == "FAILED"}
        assert len(failed) == len(failing), (name, failed)
        assert all(any(part in test for test in failed) for part in failing), (name, failed)
        assert sentence in output


def test_components_can_look_for_labels_and_a_page_lists_all_columns(root):
    """The small models of the generated test have the labels of Universal Dependencies."""
    assert {"VERB", "NOUN"} < set(RANDOM_LABELS["source"]["upos"])
    assert {"nsubj", "root"} < set(RANDOM_LABELS["target"]["deprel"])
    rows = [line.split("|") for line in (root / "docs/how-to/component.md").read_text("utf-8").splitlines()]
    listed = {name: row[3].strip(" `") for row in rows if len(row) == 5 for name in re.findall("`(\\w+)`", row[1])}
    columns = {column: name for name, feature in FEATURES.items() for column in feature.columns}
    assert listed == columns


@pytest.mark.parametrize("name", ["my_vector", "a_component_whose_name_is_as_long_as_nobody_would_write_it"])
def test_what_it_writes_has_the_style_of_the_repository(folder, name, root):
    if name != "my_vector":
        main(["new", "component", name, "--folder", str(folder)])
    for command in (["check"], ["format", "--check"]):
        checked = run("ruff", *command, "--config", root / "pyproject.toml", "--no-cache", folder)
        assert checked.returncode == 0, checked.stdout


@pytest.mark.needs("Snakemake")
def test_the_system_can_be_planned(folder, root):
    target = "results/smoke/demo_en2de/my_vector.bleu"
    planned = call_forked("snakemake", "-s", str(root / "Snakefile"), "-d", str(folder), "-n", target, merged=True)
    assert planned.returncode == 0, planned.stdout
    assert b"rule train_model:" in planned.stdout


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("My-vector", "'My-vector' cannot be the name of a component: a name has small letters"),
        ("my_vector", "config/components/my_vector.py exists already: choose another name, or remove the file."),
        ("pascal", "nmtcore itself has a component 'pascal': choose another name."),
        ("transformer_base", "has a system 'transformer_base': choose another name."),
        ("tensor", "'tensor' means something else in nmtcore or Python: choose another name."),
        ("on", "'on' means something else in YAML: choose another name."),
    ],
)
def test_names_that_are_wrong_or_taken(folder, name, sentence):
    before = sorted(folder.rglob("*"))
    code, _, errors = call_nmtcore("new", "component", name, "--folder", folder)
    assert (code, sentence in errors) == (2, True), errors
    assert sorted(folder.rglob("*")) == before


def test_without_space_nothing_is_written(tmp_path):
    with largest_file(20_000):  # enough for the component's files, but not for all schemas
        called = call_nmtcore("new", "component", "my_vector", "--folder", tmp_path)
    assert "config/schemas/datasets.schema.json would exceed the largest file size" in called.errors
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    called = call_nmtcore("new", "component", "my_vector", "--folder", tmp_path)
    assert "Made the folder" not in called.output, "it was there"
    assert (tmp_path / "config/components/my_vector.py").exists()
