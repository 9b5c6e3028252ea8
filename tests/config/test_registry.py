"""Registries: from an entry to settings and back, and the module that implements them; names of features."""

import pytest

from nmtcore.config.components import COMPONENTS
from nmtcore.config.corpora import FORMATS, CorpusSettings
from nmtcore.config.datasets import ANNOTATIONS, ANNOTATORS
from nmtcore.config.features import FEATURES, TRANSFORMS
from nmtcore.config.registry import Registry
from nmtcore.config.runs import run_from_json, run_to_json
from nmtcore.config.training import BASES
from nmtcore.config.typed import settings_class
from nmtcore.errors import UserError


@settings_class
class Apple:
    size: int = 1


@settings_class
class Pear:
    names: tuple[str, ...]


FRUIT = Registry[Apple | Pear]({"apple": (Apple, ""), "pear": (Pear, "")}, noun="fruit", key="kind")


def test_build_and_entry_of_are_inverses():
    entry = {"kind": "pear", "names": ["a", "b"]}
    settings = FRUIT.build(entry, where="f.yaml")
    assert settings == Pear(names=("a", "b"))
    assert FRUIT.name_of(settings) == "pear"
    assert FRUIT.entry_of(settings) == entry
    assert FRUIT.entry_of(Apple()) == {"kind": "apple", "size": 1}


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (["pear"], r"f.yaml: expected {kind: name of a fruit, settings}, found \['pear'\]."),
        ("pear", "f.yaml: the key 'names' is missing."),
        ({"kind": "paer"}, r"f.yaml: unknown fruit 'paer'. Did you mean pear?"),
        ({"kind": "apple", "sizes": 2}, r"f.yaml: unknown key 'sizes'. Did you mean size?"),
    ],
)
def test_invalid_entries_are_errors(entry, sentence):
    with pytest.raises(UserError, match=f"^{sentence.replace('?', '[?]')}"):
        FRUIT.build(entry, where="f.yaml")


def test_the_format_of_a_corpus_decides_its_sides():
    with pytest.raises(ValueError, match=r"unknown format 'reversed'[.] Valid are: conllu, contrastive, copied"):
        CorpusSettings(format="reversed")
    assert CorpusSettings(format="plain", files={"source": ()}).sides == ("source", "target")
    assert CorpusSettings(format="conllu", files={"source": ()}).sides == ("source",)


@pytest.mark.parametrize("registry", [BASES, COMPONENTS, TRANSFORMS, ANNOTATORS, FORMATS], ids=lambda own: own.noun)
def test_every_entry_names_its_class(registry):
    classes = {registry.configured(name): name for name in registry}
    assert len(classes) == len(registry)
    assert all(isinstance(cls, type) for cls in classes)


def test_no_feature_has_the_name_of_an_annotation():
    assert not set(FEATURES) & set(ANNOTATIONS)
    assert {feature.annotation for feature in FEATURES.values()} <= set(ANNOTATIONS)
    assert all(set(feature.labels) <= set(feature.columns) for feature in FEATURES.values())


def test_no_two_features_share_a_column():
    columns = [column for feature in FEATURES.values() for column in feature.columns]
    assert len(set(columns)) == len(columns)


def test_a_run_with_an_unknown_feature_is_refused(project):
    """An earlier version may have written it; its model would ignore the syntax."""
    values = run_to_json(project.run("demo_en2de", "pascal", "smoke", 1))
    assert run_from_json(values, where="run.json").features == {"source": {"trees": "existing"}}
    values["features"] = {"source": {"dependencies": "existing"}}
    with pytest.raises(UserError, match=r"run\.json: features\.source: unknown feature 'dependencies'\. Valid are: "):
        run_from_json(values, where="run.json")
