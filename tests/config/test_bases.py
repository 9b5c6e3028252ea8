"""Mistakes about bases: components, settings, starts and `per_base` of the other base, each explained in a sentence."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from nmtcore.config.project import Project
from nmtcore.errors import UserError

RECURRENT = "whose settings are dropout, layers, width."


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
        (
            {"extends": "nmt", "components": {"pascal": {"heads": 1}}},
            "pascal needs the base transformer, but the system's is recurrent.",
        ),
        (
            {"extends": "nmt", "components": {"tree_head": {}}},
            "tree_head needs the base transformer, but the system's is recurrent.",
        ),
        (
            {"extends": "depparse_l1", "base": "recurrent"},
            "depparse needs the base transformer, but the system's is recurrent.",
        ),
        (
            {"extends": "transformer_base", "components": {"head_selection": {}}},
            "head_selection needs the base recurrent, but the system's is transformer.",
        ),
        (
            {"extends": "nmt", "start_from": "transformer_base"},
            "start_from: transformer_base has the base 'transformer', not 'recurrent', so its weights do not fit.",
        ),
        (
            {"extends": "transformer_base", "start_from": "nmt"},
            "start_from: nmt has the base 'recurrent', not 'transformer', so its weights do not fit.",
        ),
        (
            {"extends": "nmt", "model": {"heads": 4}},
            f"model: 'heads' is a setting of the base transformer, but the system's is recurrent, {RECURRENT}",
        ),
        (
            {"extends": "nmt", "per_dataset": {"demo_en2de": {"model": {"layers": 1, "norm": "pre"}}}},
            f"model: 'norm' is a setting of the base transformer, but the system's is recurrent, {RECURRENT}",
        ),
        (
            {"extends": "transformer_base", "model": {"layers": 4, "encoder_layers": 2}},
            "model: 'layers' is a setting of the base recurrent, but the system's is transformer, whose settings are "
            "activation_dropout, attention_dropout, decoder_layers, dropout, embedding_dropout, encoder_layers, "
            "feed_forward, heads, norm, positions, width.",
        ),
    ],
)
def test_mistakes_in_a_system(root, tmp_path, system, fault):
    where = "systems/mine.yaml: mine on demo_en2de at scale smoke: "
    assert sentence(root, tmp_path, {"systems/mine": {"mine": system}}, "mine") == where + fault


@pytest.mark.parametrize(
    ("system", "fault"),
    [
        ({"base": "convolutional"}, "base: 'convolutional' is not valid. Valid are: recurrent, transformer."),
        ({"extends": "nmt", "model": {"widht": 4}}, "model: unknown key 'widht'. Did you mean width?"),
    ],
)
def test_misspelled_names_in_a_system(root, tmp_path, system, fault):
    assert sentence(root, tmp_path, {"systems/mine": {"mine": system}}, "mine") == f"systems/mine.yaml: mine: {fault}"


HEADS = "recurrent: model: unknown key 'heads'. Valid are: dropout, layers, width."


@pytest.mark.parametrize("file", ["recipes/small", "scales/smoke", "datasets/demo_en2de"])
@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"recurrent": {"model": {"heads": 4}}}, f"per_base: {HEADS}"),
        (
            {"transformer": {"model": {"layers": 4}}},
            "per_base: transformer: model: unknown key 'layers'. Did you mean encoder_layers or decoder_layers?",
        ),
        ({"recurent": {"model": {"width": 4}}}, "per_base: unknown key 'recurent'. Did you mean recurrent?"),
        (
            {"recurrent": {"width": 4}},
            "per_base: recurrent: unknown key 'width'. Valid are: decoding, model, training.",
        ),
        ({"recurrent": None}, "per_base: recurrent: expected keys and values, found nothing."),
        (["recurrent"], "per_base: expected keys and values, found ['recurrent']."),
    ],
)
def test_mistakes_in_the_changes_for_bases(root, tmp_path, file, changes, fault):
    assert sentence(root, tmp_path, {file: {"per_base": changes}}, "nmt") == f"{file}.yaml: {fault}"


def test_an_odd_width_is_a_mistake_of_the_scale(root, tmp_path):
    changes = {"recurrent": {"model": {"width": 33}}}
    assert "model: width must be even" in sentence(root, tmp_path, {"scales/smoke": {"per_base": changes}}, "nmt")
