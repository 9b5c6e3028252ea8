"""Mistakes about bases: components, settings, starts and `per_base` of the other base, each explained in a sentence."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from nmtcore.config.project import Project
from nmtcore.errors import UserError

OTHER = "transformer, but the system's is recurrent"


def sentence(root: Path, folder: Path, files: dict[str, Any], system: str) -> str:
    """Return the error about a configuration with the user's own `files`, without the folders' names."""
    for name, values in files.items():
        path = folder / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        shipped = root / "config" / f"{name}.yaml"
        values = {**(yaml.safe_load(shipped.read_text()) if shipped.exists() else {}), **values}
        path.write_text(yaml.safe_dump(values, sort_keys=False))
    with pytest.raises(UserError) as error:
        Project([folder, root / "config"], {}).run("demo_en2de", system, "smoke", 1)
    return str(error.value).replace(f"{folder}/", "").replace(f"{root}/config/", "")


@pytest.mark.parametrize(
    ("system", "fault"),
    [
        ("{extends: nmt, components: {tree_head: {}}}", f"tree_head needs the base {OTHER}."),
        ("{extends: depparse_l1, base: recurrent}", f"depparse needs the base {OTHER}."),
        ("{extends: pascal, components: {head_selection: {}}}", "head_selection needs the base recurrent, but the"),
        ("{extends: nmt, start_from: transformer_base}", "start_from: transformer_base has the base 'transformer', no"),
        ("{extends: nmt, model: {heads: 4}}", f"model: 'heads' is a setting of the base {OTHER}, whose settings are d"),
        ("{extends: nmt, per_dataset: {demo_en2de: {model: {norm: pre}}}}", "model: 'norm' is a setting of the base"),
        ("{extends: transformer_base, model: {layers: 4}}", "model: 'layers' is a setting of the base recurrent, but"),
    ],
)
def test_mistakes_in_a_system(root, tmp_path, system, fault):
    message = sentence(root, tmp_path, {"systems/mine": {"mine": yaml.safe_load(system)}}, "mine")
    assert message.startswith(f"systems/mine.yaml: mine on demo_en2de at scale smoke: {fault}")


@pytest.mark.parametrize("file", ["recipes/small", "scales/smoke", "datasets/demo_en2de"])
@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"recurrent": {"model": {"heads": 4}}}, ": recurrent: model: unknown key 'heads'. Valid are: dropout, layers"),
        ({"recurent": {"model": {"width": 4}}}, ": unknown key 'recurent'. Did you mean recurrent?"),
        ({"recurrent": None}, ": recurrent: expected keys and values, found nothing."),
        (["recurrent"], ": expected keys and values, found ['recurrent']."),
    ],
)
def test_mistakes_in_the_changes_for_bases(root, tmp_path, file, changes, fault):
    assert sentence(root, tmp_path, {file: {"per_base": changes}}, "nmt").startswith(f"{file}.yaml: per_base{fault}")


def test_an_odd_width_is_a_mistake_of_the_scale(root, tmp_path):
    changes = {"recurrent": {"model": {"width": 33}}}
    assert "model: width must be even" in sentence(root, tmp_path, {"scales/smoke": {"per_base": changes}}, "nmt")
