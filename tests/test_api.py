"""`nmtcore.load` and the methods of a model: what they return, draw, refuse and leave alone."""

import re
import subprocess
import sys
from itertools import chain
from xml.etree import ElementTree

import numpy as np
import pytest
from factories import run_settings
from inference.tiny import heads_of_block, parse_text, write_bundle

import nmtcore
from nmtcore.config.components import COMPONENTS, DepParseSettings, PascalSettings
from nmtcore.errors import UserError
from nmtcore.inference.attention import attention_rows, load_observed_bundle
from nmtcore.inference.parse import make_parser
from nmtcore.inference.scoring import score_text_pairs
from nmtcore.inference.text import read_text

LINES = ["the cat", "", "the dog a cab"]
READS_TREES = {"features": {"source": {"trees": "own"}}, "annotators": {"own": {"tool": "existing"}}}
CODE = {
    "components/shift": """
from nmtcore.config.features import ComponentSettings
from nmtcore.config.typed import settings_class
from nmtcore.model.components.base import Component

@settings_class
class ShiftSettings(ComponentSettings):
    pass

class Shift(Component):
    def embed_source(self, embedded_BSD, context):
        return embedded_BSD + 1
""",
    "annotators/next_word": """
from nmtcore.annotation.base import Annotator
from nmtcore.config.datasets import AnnotatorSettings
from nmtcore.config.typed import settings_class
from nmtcore.syntax.annotation import Annotation

@settings_class
class NextWordSettings(AnnotatorSettings):
    gives = ("dependencies",)

class NextWord(Annotator):
    def parse(self, sentences):
        for sentence in sentences:
            others = len(sentence.words) - 1
            yield Annotation(head=[*range(2, others + 2), 0], deprel=[*["x"] * others, "root"])
""",
}
"""A component and a parser of a user's own."""
SCRIPT = """
import os, signal, sys
import torch, numpy  # which set filters of warnings
from warnings import filters
from logging import root

def state():
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    logging = root.level, list(root.handlers), sys.excepthook, sys.path, sys.stderr
    return os.getcwd(), dict(os.environ), torch.get_num_threads(), torch.random.get_rng_state().tolist(), \\
        list(filters), handlers, logging

before = state()
import nmtcore
model = nmtcore.load(sys.argv[1], project=sys.argv[2], parser={"tool": "next_word"})
translations = model.translate(["the cat", ""])
assert [len(own.heads) for own in model.parse(["the cat", ""], attention="0.1")] == [2, 0]
assert model.score(["the cat"], translations[:1])[0].log_probability < 0
assert model.attention(["the cat"])[0]["encoder.0.0"].weights.shape == (3, 3)
assert state() == before
print(translations)
model.translate("the cat")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a model with a parser head, untrained."""
    folder = tmp_path_factory.mktemp("parser") / "model"
    return write_bundle(folder, run_settings(components={"depparse": DepParseSettings(layer=0)}))


@pytest.fixture(scope="module")
def model(folder):
    return nmtcore.load(folder)


@pytest.fixture(scope="module")
def reads_trees(tmp_path_factory):
    """The folder of a model that was trained on trees that came with its corpus."""
    run = run_settings(PascalSettings(heads=1), **READS_TREES)
    return write_bundle(tmp_path_factory.mktemp("trees") / "model", run, label_names=["det", "root"])


def test_translations_and_their_scores_are_those_of_the_bundle(model):
    assert model.translate(LINES) == list(model.bundle.translate(LINES))
    greedy = model.bundle.decoding_settings(beam=1)
    assert model.translate(iter(LINES), beam=1) == list(model.bundle.translate(LINES, greedy))
    expected = list(model.bundle.translate_n_best(LINES, model.bundle.decoding_settings(beam=3), n_best=2))
    assert model.n_best(LINES, 2, beam=3) == expected
    targets = ["a cat", "a", ""]
    assert model.score(LINES, targets) == list(score_text_pairs(model.bundle, read_text(LINES), read_text(targets)))


@pytest.mark.parametrize("method", ["argmax", "one_root", "many_roots"])
def test_trees_are_those_of_the_command(model, folder, method):
    options = {"argmax": method == "argmax", "roots": method.partition("_")[0] if method != "argmax" else None}
    trees = model.parse(LINES, **options)
    assert [own.heads for own in trees] == [*map(heads_of_block, parse_text(model.bundle, LINES, method=method))]
    assert [own.words for own in trees] == [line.split() for line in LINES]
    bundle = load_observed_bundle(folder)
    induced = parse_text(bundle, LINES, method=method, parser=make_parser(bundle, method, attention=(1, 0)))
    assert [own.heads for own in model.parse(LINES, attention="1.0", **options)] == [*map(heads_of_block, induced)]


def test_attention_is_that_of_the_translations(model, folder):
    bundle = load_observed_bundle(folder)
    read = bundle.reader.read(list(read_text(LINES)))
    tokens = [bundle.vocabularies["target"].ids(own["cross.0.0"].queries[:-1]) for own in model.attention(LINES) if own]
    expected = list(chain.from_iterable(attention_rows(bundle, read.examples, tokens)))
    first, none, last = model.attention(LINES)
    assert none == {}
    assert [bundle.output.text(own) for own in tokens] == [own for own in model.translate(LINES) if own]
    for own, rows in zip((first, last), expected, strict=True):
        names = [f"{row['attention']}.{row['layer']}.{row['head']}" for row in rows]
        assert list(own) == names
        assert {"encoder.0.0", "cross.0.1"} <= set(names)
        for row, name in zip(rows, names, strict=True):
            np.testing.assert_array_equal(own[name].weights, row["weights"])
            assert (own[name].queries, own[name].keys) == (row["queries"], row["keys"])


def texts_of(picture):
    return ["".join(own.itertext()) for own in ElementTree.fromstring(picture._repr_svg_()).iter() if "text" in own.tag]


def test_trees_and_attention_are_drawn(model, tmp_path):
    (tree,), (maps,) = model.parse(["the cat"]), model.attention(["the cat"])
    assert {"the", "cat"} <= set(texts_of(tree))
    assert tree.svg.count("stroke-dasharray") == tree.heads.count(0)
    assert texts_of(maps["encoder.0.1"]).count("</s>") == 2
    cross = maps["cross.0.0"]
    assert {*cross.queries, *cross.keys} <= set(texts_of(cross))
    assert "cross.0.0" in cross.svg
    cross.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text() == cross.svg


def test_a_script_in_another_folder_leaves_its_process_alone(tmp_path, monkeypatch):
    """The model has a component, and the project the parser, of the user's own; the last line is a mistake."""
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    for name, code in CODE.items():
        path = project / f"config/{name}.py"
        path.parent.mkdir(parents=True)
        path.write_text(code)
    monkeypatch.chdir(project)
    run = run_settings(PascalSettings(heads=1), COMPONENTS.build_named("shift", {}, where="test"), **READS_TREES)
    write_bundle(project / "model", run, label_names=["x", "root"])
    elsewhere.mkdir()
    (elsewhere / "script.py").write_text(SCRIPT)
    command = [sys.executable, "script.py", "../project/model", "../project"]
    done = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, check=False)
    here = nmtcore.load(project / "model", parser={"tool": "next_word"})
    assert done.stdout == f"{here.translate(['the cat', ''])}\n", done.stderr
    trace = done.stderr.splitlines()
    assert trace[-1] == "nmtcore.errors.UserError: Give a list of sentences, also of a single one: ['the cat']."
    assert len(trace) <= 6
    monkeypatch.chdir(elsewhere)
    with pytest.raises(UserError, match=r"own, 'shift', which is not at config/components/shift\.py"):
        nmtcore.load(project / "model")


MISTAKES = [
    (lambda own, _: nmtcore.load(own / "nowhere"), "nowhere is not a whole model (there is no such folder)"),
    (lambda own, _: nmtcore.load(own, parser={"tool": "udpipe", "model": "x"}), "reads no syntax of the source"),
    (
        lambda _, trees: nmtcore.load(trees, parser={"tool": "spacy", "model": "x", "tags": "ccg"}),
        "reads dependencies of the source side, which the parser {'tool': 'spacy', 'model': 'x', 'tags': 'ccg'} does",
    ),
    (lambda _, trees: nmtcore.load(trees).translate(LINES), "Name a parser that gives similar trees, and the folder"),
    (lambda own, _: nmtcore.load(own).translate(["a", "b\0"]), "sentences, line 2: contains a NUL character"),
    (lambda own, _: nmtcore.load(own).attention(["the"])[0]["encoder.0.9"], "There is no attention 'encoder.0.9'. Did"),
]


@pytest.mark.parametrize(("call", "sentence"), MISTAKES)
def test_mistakes_are_sentences_without_a_long_trace(folder, reads_trees, call, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(nmtcore.UserError) as error:
        call(folder, reads_trees)
    assert sentence in str(error.value)
    assert len(error.traceback) <= 4
    assert error.value.__suppress_context__ or error.value.__context__ is None


def test_only_what_is_promised_is_a_name_of_the_package():
    assert nmtcore.UserError is UserError
    with pytest.raises(AttributeError, match="module 'nmtcore' has no attribute 'translate'"):
        nmtcore.translate  # noqa: B018
    code = "import sys, nmtcore; print(sorted({'torch', 'numpy', 'pydantic', 'yaml'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_page_does_what_it_says(root, shared, tmp_path, monkeypatch, capsys):
    """Its models are tiny here."""
    monkeypatch.chdir(tmp_path)
    for name, own in (
        ("depparse_l1", run_settings(components={"depparse": DepParseSettings(layer=0)})),
        ("pascal", run_settings(PascalSettings(heads=1), **READS_TREES)),
    ):
        write_bundle(tmp_path / f"results/smoke/demo_en2de/{name}/seed1/model", own, label_names=["det", "root"])
    (tmp_path / "parsers").symlink_to(shared / "models")
    blocks = re.findall(r"^```(python|text)\n(.*?)^```$", (root / "docs/python.md").read_text(), re.M | re.DOTALL)
    names = {}
    for language, text in blocks:
        if language == "python":
            exec(text.replace("0.3", "0.1"), names)  # a tiny model has two heads
        else:
            assert capsys.readouterr().out.endswith(text)
    assert len(names["model"].translate(names["sentences"])) == 2
    assert (tmp_path / "attention.svg").exists()
