"""Registries: from an entry to settings and back, and the module that implements them."""

from typing import get_type_hints

import pytest

from nmtcore.config.corpora import CorpusSettings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.filters import FilterSettings
from nmtcore.config.formats import FORMATS, PlainOptions
from nmtcore.config.ranges import settings_class
from nmtcore.config.registry import Registry
from nmtcore.config.typed import convert
from nmtcore.corpus.formats import make_format
from nmtcore.errors import UserError


@settings_class
class Apple:
    size: int = 1


@settings_class
class Pear:
    names: tuple[str, ...]


FRUIT = Registry[Apple | Pear]({"apple": Apple, "pear": Pear}, noun="fruit", package="collections", key="kind")


def test_build_and_entry_of_are_inverses():
    entry = {"kind": "pear", "names": ["a", "b"]}
    settings = FRUIT.build(entry, where="f.yaml")
    assert settings == Pear(names=("a", "b"))
    assert FRUIT.name_of(settings) == "pear"
    assert FRUIT.entry_of(settings) == entry
    assert FRUIT.entry_of(Apple()) == {"kind": "apple", "size": 1}


def test_a_registry_lists_its_names_in_order():
    assert list(FRUIT) == ["apple", "pear"]
    assert len(FRUIT) == 2
    assert FRUIT["apple"] is Apple
    assert FRUIT.find("pear", where="f.yaml") is Pear


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (["pear"], r"f.yaml: expected {kind: name of a fruit, settings}, found \['pear'\]."),
        ("pear", "f.yaml: the key 'names' is missing."),
        ({"names": []}, r"f.yaml: expected {kind: name of a fruit, settings}, found {'names': \[\]}."),
        ({"kind": "paer"}, r"f.yaml: unknown fruit 'paer'. Did you mean pear?"),
        ({"kind": "apple", "sizes": 2}, r"f.yaml: unknown key 'sizes'. Did you mean size?"),
        ({"kind": "apple", "size": "big"}, r"f.yaml: size: expected a whole number, found 'big'."),
    ],
)
def test_invalid_entries_are_errors(entry, sentence):
    with pytest.raises(UserError, match=f"^{sentence.replace('?', '[?]')}"):
        FRUIT.build(entry, where="f.yaml")


def test_a_module_is_imported_from_the_package():
    assert Registry({"abc": Apple}, noun="fruit", package="collections").module("abc").Mapping


def test_a_corpus_may_have_any_registered_format(monkeypatch):
    with pytest.raises(ValueError, match=r"unknown format 'reversed'[.] Valid are: conllu, contrastive, copied"):
        CorpusSettings(format="reversed")
    monkeypatch.setitem(FORMATS._classes, "reversed", PlainOptions)
    assert CorpusSettings(format="reversed", files={"source": ()}).sides == ("source", "target")
    assert CorpusSettings(format="conllu", files={"source": ()}).sides == ("source",)


def test_a_data_set_may_have_any_registered_filter():
    @settings_class
    class NewSettings(FilterSettings):
        least: int = 3

    hint = get_type_hints(DatasetSettings, include_extras=True)["filters"]
    assert convert((NewSettings(),), hint, where="filters") == (NewSettings(),)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_its_class(name):
    assert callable(make_format(name, None, None).parse)
