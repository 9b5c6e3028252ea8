"""Exported models: compared with nmtcore by CTranslate2 itself and by the code of their README; refused ones."""

import re
import sys
import unicodedata
from dataclasses import replace

import pytest
from called import call_nmtcore
from conftest import skip_unless_ci
from factories import MODEL, build_tiny_model, run_settings
from inference.tiny import PIECES, RECURRENT, random_examples, trained_briefly, write_bundle

from nmtcore.cli import main
from nmtcore.config.components import (
    DepParseSettings,
    DiagonalParseSettings,
    PascalSettings,
    RelativePositionsSettings,
    TreeDistanceSettings,
)
from nmtcore.config.corpora import SegmentationSettings, WordsSettings
from nmtcore.config.features import InterleaveSettings, ParsingTaskSettings
from nmtcore.config.stages import MANIFESTS
from nmtcore.config.training import DecodingSettings
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.errors import UserError
from nmtcore.files import read_json, write_json
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.export import check_exportable, write_model
from nmtcore.inference.search import translate_examples
from nmtcore.model.components.base import Build, Component
from nmtcore.segmentation.vocabulary import SPECIALS

GREEDY = DecodingSettings(beam=1, min_length=8, max_length_ratio=1.5, max_length_extra=4)
LINES = ["the cat", "dog", "the dog . the cat", "bad goat", "<s> cab , </s>", "a <ROOT> the", "größe the the", "hot ."]
VOCABULARY = 40
ENTRIES = (*SPECIALS, *(f"t{i}" for i in range(len(SPECIALS), VOCABULARY)))
LIMIT = 30


@pytest.fixture(autouse=True)
def libraries():
    for name in ("ctranslate2", "subword_nmt"):
        try:
            __import__(name)
        except ModuleNotFoundError:
            skip_unless_ci(f"{name} is not installed")


def model_of(*components, joint=True, extra=(), **changes):
    """Make a transformer with random weights."""
    segmentation = SegmentationSettings(kind="bpe", size=6, joint=joint)
    run = run_settings(*components, segmentation=segmentation, model=replace(MODEL, **changes))
    model = build_tiny_model(run, vocabulary=VOCABULARY, seed=4, extra_components=extra)
    return model.eval()


EQUAL = {
    "pre-norm": ((), {}),
    "layers, no positions, separate vocabularies": (
        (),
        {"encoder_layers": 3, "decoder_layers": 1, "positions": "none", "joint": False},
    ),
    "post-norm, two parser heads, a language code": (
        (DepParseSettings(layer=0), DiagonalParseSettings(layer=1, head=0)),
        {"norm": "post", "language_code": 9},
    ),
    "relative positions": ((RelativePositionsSettings(maximum=3),), {}),
    "a parser head without `<ROOT>`": ((DepParseSettings(layer=0, root="itself"),), {}),
}


@pytest.mark.parametrize(("components", "changes"), EQUAL.values(), ids=EQUAL)
def test_greedy_output_is_equal(components, changes, tmp_path):
    import ctranslate2

    model = trained_briefly(model_of(*components, **changes), vocabulary=VOCABULARY)
    check_exportable(model, where="M")
    write_model(model, tmp_path, source_entries=ENTRIES, target_entries=ENTRIES, longest=64)
    translator = ctranslate2.Translator(str(tmp_path), intra_threads=1)
    examples = random_examples(50, longest=20, vocabulary=VOCABULARY)
    examples = examples.take((examples.source.ids.lengths > 0).nonzero()[0])
    prefix = [i for component in model.components for i in component.source_prefix]
    sources = [[ENTRIES[i] for i in (*prefix, *row)] for row in examples.source.ids]

    settings = DecodingSettings(beam=1, min_length=5, max_length=LIMIT, max_length_ratio=None, length_penalty="none")
    own = [[ENTRIES[i] for i in best[0].tokens] for best in translate_examples(model, examples, settings)]
    results = translator.translate_batch(sources, beam_size=1, min_decoding_length=5, max_decoding_length=LIMIT)
    assert [result.hypotheses[0] for result in results] == own
    assert sum(len(entries) < LIMIT for entries in own) > 20
    assert sum(len(entries) == 5 for entries in own) > 2
    assert len(set(map(tuple, own))) > 10


REFUSED = {
    "pascal": [PascalSettings(heads=1)],
    "tree_distance": [TreeDistanceSettings(maximum=5)],
    "relative_positions_2": [RelativePositionsSettings(maximum=2), RelativePositionsSettings(maximum=3)],
}


@pytest.mark.parametrize("name", [*REFUSED, "own"])
def test_what_changes_translation_is_refused(name):
    """So is any other component, which nobody has compared with CTranslate2."""
    extra = [Component(None, Build(name="own"))] if name == "own" else []
    with pytest.raises(UserError, match=rf"^M cannot be exported: its component {name} is not a part of a plain trans"):
        check_exportable(model_of(*REFUSED.get(name, []), extra=extra), where="M")


def export(tmp_path, *components, trained=False, **values):
    """Write a bundle and export it; return both folders."""
    options = {"train": trained_briefly} if trained else {}
    run = run_settings(*components, **{"decoding": GREEDY, **values})
    model = write_bundle(tmp_path / "run" / "model", run, **options)
    main(["export", str(model), "--to", "ctranslate2", str(tmp_path / "exported")])
    return model, tmp_path / "exported"


def refused(*arguments):
    """Return the sentence of a command that must fail."""
    called = call_nmtcore("export", *arguments)
    assert (called.code, called.output, called.errors.count("\n")) == (2, "", 1)
    return called.errors


SYSTEMS = {
    "whole words": ((), {"segmentation": SegmentationSettings(kind="words", size=30)}),
    "pieces of text": ((), {"segmentation": SegmentationSettings(kind="sentencepiece", size=45, joint=True)}),
    "a prefix": ((DepParseSettings(layer=1),), {}),
    "a second task": ((), {"transforms": {"parsing_task": ParsingTaskSettings()}}),
    "tags in translations": (
        (),
        {
            "transforms": {"interleave": InterleaveSettings(side="target", tags="ccg_tags")},
            "features": {"target": {"ccg_tags": "parser"}},
            "annotators": {"parser": {"tool": "existing"}},
        },
    ),
}


@pytest.mark.parametrize(("components", "values"), SYSTEMS.values(), ids=SYSTEMS)
def test_the_code_of_the_readme_translates_as_nmtcore_does(components, values, tmp_path, monkeypatch):
    of_text = values.get("segmentation", run_settings().segmentation).kind == "sentencepiece"
    if of_text:
        pytest.importorskip("sentencepiece")
    model, folder = export(tmp_path, *components, trained=True, **values)
    monkeypatch.chdir(folder)
    (code,) = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    exec(code, names)
    expected = list(load_bundle(model).translate(LINES))
    sentences = LINES if of_text else [line.split() for line in LINES]
    assert [" ".join(names["translate"]([sentence])[0]) for sentence in sentences] == expected
    assert len(set(expected)) > 3


def test_the_folder_says_how_to_make_the_input_and_under_which_licences_the_data_are(tmp_path):
    corpus = {"kind": "corpus", "name": "news", "licence": "CC BY 4.0", "citation": "A paper", "file": "news.txt"}
    manifest = {"format": MANIFESTS, "dataset": "d", "data": {"files": [corpus | {"sha256": None}]}}
    write_json(tmp_path / "run" / "manifest.json", manifest)
    words = dict.fromkeys(("source", "target"), WordsSettings(kind="moses", normalise=True))
    segmentation = SegmentationSettings(kind="bpe", size=6)
    model, folder = export(tmp_path, DepParseSettings(layer=1), words=words, segmentation=segmentation)
    about = read_json(folder / "nmtcore.json")
    assert (about["source_prefix"], about["source_suffix"], about["output_tags"]) == (["<ROOT>"], [], [])
    assert about["segmentation"]["codes"] == {"source": "source.codes", "target": "target.codes"}
    assert about["words"]["source"] == {"language": "en", "tokeniser": "moses", "normalise": True}
    for name in ("source.codes", "target.codes"):
        assert (folder / name).read_bytes() == (model / name).read_bytes()
    assert read_json(folder / "shared_vocabulary.json") == [*SPECIALS, *PIECES]
    (entry,) = about["licences"]
    assert (entry["name"], entry["licence"], entry["citation"]) == ("news", "CC BY 4.0", "A paper")
    assert "$" not in (folder / "README.md").read_text(encoding="utf-8")


WORDS = [
    ("tr", WordsSettings(normalise="nfc", apostrophes="keep"), "Ankara'da «Ka\u0308se» var؟"),
    ("fr", WordsSettings(apostrophes="keep"), "C’est « bon »."),
    ("yue", WordsSettings(kind="spacy", language="zh"), "他买 了 iPhone。"),
    ("th", WordsSettings(kind="characters", normalise="nfc"), "ที่ บ้าน iPhone 12"),
]


@pytest.mark.parametrize(("language", "words", "text"), WORDS)
def test_what_the_folder_says_is_enough_to_split_and_join_words(language, words, text, tmp_path):
    """By the steps of the README, and nothing of nmtcore."""
    import regex
    import sacremoses
    import spacy

    _, folder = export(tmp_path, words=dict.fromkeys(("source", "target"), words), source=language, target=language)
    about = read_json(folder / "nmtcore.json")["words"]["source"]
    given = unicodedata.normalize("NFC", text) if about["normalise"] == "nfc" else text
    moses = sacremoses.MosesTokenizer(lang=about["language"])
    if about["tokeniser"] == "characters":
        split = [about["space"] if own.isspace() else own for own in regex.findall(about["characters"], given)]
    elif about["tokeniser"] == "spacy":
        split = []
        for token in spacy.blank(about["language"]).make_doc(given):
            split += [token.text] + [about.get("space", "")] * bool("space" in about and token.whitespace_)
    elif "within" in about:
        marks = iter(regex.findall(about["within"], given))
        marked = moses.tokenize(regex.sub(about["within"], about["within_mark"], given), escape=False)
        split = [regex.sub(about["within_mark"], lambda _: next(marks), own) for own in marked]
    else:
        split = moses.tokenize(given, escape=False)
    own = WordTokenizer(words, language)
    assert split == own.split(text)
    if "space" in about:
        joined = "".join(split).replace(about["space"], " ")
    else:
        joined = sacremoses.MosesDetokenizer(lang=language).detokenize(split, unescape=False)
        joined = regex.sub(about["closing"], "", joined) if "closing" in about else joined
        joined = regex.sub(about["quoted"], r"\1\2\3", joined) if "quoted" in about else joined
    assert joined == own.join(split) == given


def test_a_folder_with_files_is_not_replaced(tmp_path):
    model, folder = export(tmp_path)
    before = sorted(path.name for path in folder.iterdir())
    expected = f"nmtcore export: {folder} exists: name a new folder to export to, or delete it first.\n"
    assert refused(model, "--to", "ctranslate2", folder) == expected
    assert sorted(path.name for path in folder.iterdir()) == before
    (tmp_path / "empty").mkdir()
    main(["export", str(model), "--to", "ctranslate2", str(tmp_path / "empty")])
    assert (tmp_path / "empty" / "model.bin").read_bytes() == (folder / "model.bin").read_bytes()


def test_models_that_need_more_are_refused_with_a_sentence(tmp_path, monkeypatch):
    tags = {"features": {"source": {"ccg_tags": "parser"}}, "annotators": {"parser": {"tool": "existing"}}}
    interleave = {"interleave": InterleaveSettings(side="source", tags="ccg_tags")}
    refusals = [
        (run_settings(transforms=interleave, **tags), "its transform interleave reads features of each source, which"),
        (run_settings(**RECURRENT), "its base is recurrent, and only transformers can be exported."),
    ]
    for number, (run, sentence) in enumerate(refusals):
        model = write_bundle(tmp_path / str(number) / "model", run)
        error = refused(model, "--to", "ctranslate2", tmp_path / "exported")
        assert error.startswith(f"nmtcore export: {model} cannot be exported: {sentence}")
    assert not (tmp_path / "exported").exists()
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    assert refused(model, "--to", "ctranslate2", tmp_path / "exported") == (
        "nmtcore export: this needs the package ctranslate2, which is not installed: pip install 'nmtcore[export]'.\n"
    )
