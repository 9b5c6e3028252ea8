"""The file that decides each setting of a run, and what that replaces, against the values in the files."""

import json
import re
from pathlib import Path

import pytest

from nmtcore.config.assembly import MissingAnnotation
from nmtcore.config.files import read_yaml
from nmtcore.config.project import MACHINE, Project
from nmtcore.config.runs import run_to_json
from nmtcore.config.typed import changed
from nmtcore.new.deciding_files import DEFAULT, assumed_lines, decided_settings

FILLED = {
    "words", "annotators", "tests", "features", "trees_by", "treebanks", "gold", "gold_annotator", "linearised_by",
}  # fmt: skip
"""Sections that are not in files as they are in runs."""


def leaves(values, place=()):
    if isinstance(values, dict):
        for key, value in values.items():
            yield from leaves(value, (*place, key))
    else:
        yield place, values


@pytest.mark.parametrize(("dataset", "scale"), [("rehearsal_wmt17_tr2en", "paper"), ("rehearsal_cs2en", "smoke")])
def test_the_named_file_has_the_value_and_what_no_file_has_is_the_default(root, dataset, scale):
    """Whatever differs from a default was decided by a file, in which the last keys have this value."""
    project = Project([root / "config"], {})
    compared, values = 0, {}
    for system in project.system_entries:
        try:
            run = project.run(dataset, system, scale, 1)
        except MissingAnnotation:
            continue
        other_than_default = {".".join(place) for place, _ in leaves(run_to_json(run, values=changed))}
        for key, value, file, _ in decided_settings(project, run):
            section, last = key.split(".")[0], key.split(".")[-1]
            if file == DEFAULT:
                assert key not in other_than_default or section in FILLED or last == "kind", (system, key)
            elif file != MACHINE and section not in FILLED and last != "kind":
                place, _, name = file.partition(": ")
                path, _, line = place.rpartition(":")
                if path not in values:
                    values[path] = read_yaml(Path(path))
                entry = values[path][name] if name else values[path].get(dataset, values[path])
                in_file = [own for place, own in leaves(entry) if place[-1] == last or last == "size"]
                assert json.loads(value) in in_file, (system, key, value, file)
                text = Path(path).read_text().splitlines()[int(line) - 1]
                keys = {*key.split("."), "segmentation_size"} & set(re.findall(r"\w+(?=:)", text))
                assert keys, (system, key, file, text)
                compared += 1
    assert compared > 500


def test_the_nearest_file_wins(root, tmp_path):
    system = (
        "extends: depparse_l1, components: {depparse: {weight: 0.5}}, decoding: {beam: 7}, "
        "training: {schedule: {peak: 0.002}}, below_scale: {training: {schedule: {peak: 0.004}}}"
    )
    for name, text in {
        "systems/own": f"mine: {{{system}}}",
        "recipes/own": "{extends: small, decoding: {alpha: 0.1}, description: d}",
        "datasets/own": "{extends: demo_en2de, recipe: own, description: d}",
    }.items():
        path = tmp_path / f"{name}.yaml"
        path.parent.mkdir()
        path.write_text(text)
    project = Project([tmp_path, root / "config"], {})
    run = project.run("own", "mine", "small", 1)
    decided = decided_settings(project, run)
    files = {own.key: (own.value, re.sub(r"(?<=yaml):\d+", "", own.file)) for own in decided}
    replaced = {
        own.key: tuple((value, re.sub(r"(?<=yaml):\d+", "", file)) for value, file in own.replaced) for own in decided
    }
    systems, recipe = root / "config/systems/pham2018.yaml", str(root / "config/recipes/small.yaml")
    assert files["components.depparse.weight"] == ("0.5", f"{tmp_path}/systems/own.yaml: mine")
    assert files["components.depparse.kind"] == ('"depparse"', f"{systems}: depparse_l0")
    assert files["decoding.beam"] == ("7", f"{tmp_path}/systems/own.yaml: mine")
    assert replaced["decoding.beam"] == (("4", recipe),)
    assert files["decoding.alpha"] == ("0.1", f"{tmp_path}/recipes/own.yaml")
    assert files["model.width"] == ("128", str(root / "config/scales/small.yaml"))
    assert files["training.validation.stop_after"] == ("null", str(root / "config/scales/small.yaml"))
    assert files["training.schedule.peak"] == ("0.002", f"{tmp_path}/systems/own.yaml: mine")
    assert replaced["training.schedule.peak"] == (
        ("0.003", str(root / "config/scales/small.yaml")),
        ("0.004", f"{tmp_path}/systems/own.yaml: mine"),
        ("0.001", recipe),
    )
    assert files["model.heads"] == ("8", DEFAULT)
    assert replaced["model.heads"] == ()


def test_what_is_assumed_is_said_unless_another_file_overrides_it(root, tmp_path):
    project = Project([root / "config"], {})
    recipe = "config/recipes/tran2018.yaml"
    clipped = "training.clip_norm: The paper names none; without one, LSTMs may diverge. OpenNMT's default is 5"
    clipped += f" ({recipe}:13)"
    width = "model.width: The paper gives the width of embeddings, 1,024, and not that of the LSTMs"
    width += f" ({recipe}:3)"
    start = "recurrent: first input feeding: u is 0 before the first word: nothing has been attended to"
    for scale, others in (("paper", {width}), ("smoke", set())):
        lines = assumed_lines(project, project.run("wmt17_en2ru", "nmt", scale, 1), tmp_path)
        assert {clipped, width, start} & set(lines) == {clipped, start, *others}
        assert not [line for line in lines if "paper has no transformer" in line], "it is about another base"
    lines = assumed_lines(project, project.run("demo_en2de", "transformer_base", "paper", 1), tmp_path)
    assert lines == [], "nothing of the demo is a paper's"
