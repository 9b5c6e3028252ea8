"""Bundles: saving, loading, damaged files, and translation of raw text."""

import hashlib
import json
import re
import shutil
from dataclasses import replace

import pytest
import torch
from factories import run_settings
from inference.tiny import PIECES, write_bundle, write_segmentation
from safetensors.torch import load_file, save_file

from nmtcore.config.components.settings import DepParseSettings, HeadSelectionSettings
from nmtcore.config.recurrent import RecurrentSettings
from nmtcore.config.training import BatchSettings, DecodingSettings, TrainingSettings
from nmtcore.errors import LineError, UserError
from nmtcore.files import write_json
from nmtcore.inference import raw
from nmtcore.inference.bundle import FORMAT, load_bundle, load_initial_weights, save_bundle
from nmtcore.model.build import build_model
from nmtcore.segmentation.vocabulary import Vocabulary

LINES = [
    "the cat",
    "",
    "   ",
    "the\u2028dog \u00a0 cat",
    "größer 漢字 \U0001f600",
    "a" * 80,
    "the dog . " * 30,
    "dog\r",
    "the \ufeffcat \u0085 dog",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_bundle(tmp_path_factory.mktemp("bundle") / "model")


@pytest.fixture(scope="module")
def bundle(folder):
    return load_bundle(folder)


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    """A model that parses, with labels of its trees."""
    trees = {"features": {"source": {"trees": "parser"}}, "annotators": {"parser": {"tool": "existing"}}}
    return write_bundle(tmp_path_factory.mktemp("labelled") / "model", run_settings(DepParseSettings(layer=1), **trees))


@pytest.fixture
def copy(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "model")


def test_saved_models_are_loaded_unchanged(tmp_path):
    run = run_settings(DepParseSettings(layer=1))
    bundle = load_bundle(write_bundle(tmp_path / "model", run))
    assert bundle.run == run
    assert not bundle.model.training
    save_bundle(tmp_path / "again", run=run, model=bundle.model, segmentation=tmp_path / "model")
    again = load_bundle(tmp_path / "again")
    state, state_again = bundle.model.state_dict(), again.model.state_dict()
    assert state.keys() == state_again.keys()
    assert all(torch.equal(state[name], state_again[name]) for name in state)
    assert again.model.source_embedding is again.model.target_embedding
    assert list(again.translate(LINES)) == list(bundle.translate(LINES))


def test_loading_does_not_change_the_random_state(folder):
    torch.manual_seed(4)
    expected = torch.rand(3)
    torch.manual_seed(4)
    load_bundle(folder)
    assert torch.equal(torch.rand(3), expected)


def test_labels_are_saved_and_loaded(tmp_path):
    labels = {"source": {column: ["<none>", "<unk>", "x"] for column in ("deprel", "ccg")}}
    run = run_settings(features={"source": {"trees": "parser", "ccg_tags": "tagger"}})
    bundle = load_bundle(write_bundle(tmp_path / "one", run))
    save_bundle(
        tmp_path / "two", run=bundle.run, model=bundle.model, segmentation=tmp_path / "segmentation", labels=labels
    )
    assert load_bundle(tmp_path / "two").labels == labels
    del labels["source"]["ccg"]
    save_bundle(tmp_path / "three", run=run, model=bundle.model, segmentation=tmp_path / "segmentation", labels=labels)
    with pytest.raises(UserError, match=r"source\.labels\.json is no file of label vocabularies \('ccg' is missing"):
        load_bundle(tmp_path / "three")


def test_a_failed_save_keeps_the_old_model_and_removes_partial_files(folder, bundle, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "here" / "model")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UserError, match="does not exist"):
        save_bundle(copy, run=bundle.run, model=bundle.model, segmentation=empty)
    load_bundle(copy)
    assert [path.name for path in copy.parent.iterdir()] == ["model"]


def test_an_existing_folder_is_replaced_completely(copy, bundle):
    (copy / "stray").write_text("from before")
    save_bundle(copy, run=bundle.run, model=bundle.model, segmentation=write_segmentation(copy.parent / "cuts"))
    assert not (copy / "stray").exists()
    load_bundle(copy)


def sum_files(folder):
    """Write bundle.json for the current files, as for a folder assembled by hand."""
    files = [path for path in folder.iterdir() if path.name != "bundle.json"]
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    write_json(folder / "bundle.json", {"format": FORMAT, "files": sums})


def remove(name):
    return lambda folder: (folder / name).unlink()


def damage(name):
    def change(folder):
        content = bytearray((folder / name).read_bytes())
        content[len(content) // 2] ^= 1
        (folder / name).write_bytes(content)

    return change


def replace_and_sum(name, content):
    def change(folder):
        (folder / name).write_bytes(content)
        sum_files(folder)

    return change


def change_type(type_):
    def change(folder):
        weights = load_file(folder / "weights.safetensors")
        save_file({name: tensor.to(type_) for name, tensor in weights.items()}, folder / "weights.safetensors")
        sum_files(folder)

    return change


def change_size(**sizes):
    def change(folder):
        run = json.loads((folder / "run.json").read_text())
        replace_and_sum("run.json", json.dumps({**run, "model": {**run["model"], **sizes}}).encode())(folder)

    return change


def unlist(name):
    def change(folder):
        (folder / name).unlink()
        sum_files(folder)

    return change


UNFITTING = r"\S+ in weights\.safetensors does not fit run\.json and the vocabularies"
TOO_FEW = r"weights\.safetensors has fewer numbers than run\.json and the vocabularies need"
FILES = ("weights.safetensors", "run.json", "target.vocab", "codes", "source.labels.json")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        *((remove(name), f"{name} is missing") for name in (*FILES, "bundle.json")),
        *((damage(name), f"the sha256 of {name} differs from that in bundle.json") for name in FILES),
        *((unlist(name), f"bundle.json does not list {name}") for name in FILES),
        (
            lambda folder: write_json(folder / "bundle.json", {"format": 99, "files": {}}),
            "bundle.json is not of format 3",
        ),
        (lambda folder: write_json(folder / "bundle.json", [1]), "bundle.json is not of format 3"),
        (replace_and_sum("weights.safetensors", b"ab"), "weights.safetensors cannot be read: .*"),
        *((change_type(type_), UNFITTING) for type_ in (torch.int8, torch.float64)),
        (change_size(width=8), UNFITTING),
        *((change_size(**size), TOO_FEW) for size in ({"width": 10**6}, {"encoder_layers": 1000})),
    ],
)
def test_broken_models_are_refused(labelled, tmp_path, change, reason):
    folder = shutil.copytree(labelled, tmp_path / "model")
    load_bundle(folder)
    change(folder)
    with pytest.raises(UserError) as error:
        load_bundle(folder)
    assert re.fullmatch(rf"{folder} is not a whole model \({reason}\): copy or train it again\.", str(error.value))


def test_other_paths_are_explained(folder):
    with pytest.raises(UserError, match=r"nowhere is not a model: there is no such folder\."):
        load_bundle(folder / "nowhere")
    with pytest.raises(UserError, match=r"run\.json is not a model: a model is a folder, and this is a file\."):
        load_bundle(folder / "run.json")
    with pytest.raises(UserError, match=f"is not a model but contains one: {folder}"):
        load_bundle(folder.parent)


def test_models_with_settings_that_are_gone_are_loaded(copy):
    run = json.loads((copy / "run.json").read_text())
    run["words"]["source"]["truecase"] = False
    run["training"] = {**run["training"], **dict.fromkeys(TrainingSettings.REMOVED)}
    run["training"]["batch"] = {**run["training"]["batch"], **dict.fromkeys(BatchSettings.REMOVED)}
    replace_and_sum("run.json", json.dumps(run).encode())(copy)
    assert load_bundle(copy).run == run_settings()
    run["words"]["source"]["truecase"] = True
    replace_and_sum("run.json", json.dumps(run).encode())(copy)
    with pytest.raises(UserError, match="the key 'truecase' is gone"):
        load_bundle(copy)


def test_unfitting_settings_are_named(copy):
    values = json.loads((copy / "run.json").read_text())
    replace_and_sum("run.json", json.dumps(values | {"base": "recurent"}).encode())(copy)
    with pytest.raises(UserError) as error:
        load_bundle(copy)
    assert str(error.value) == f"{copy / 'run.json'}: base: unknown base 'recurent'. Did you mean recurrent?"


def write_recurrent(folder, *components):
    run = run_settings(*components, base="recurrent", model=RecurrentSettings(width=16))
    return write_bundle(folder, run)


def test_initial_weights_of_the_other_base_are_an_error(bundle, tmp_path):
    recurrent = write_recurrent(tmp_path / "recurrent" / "model")
    with pytest.raises(UserError) as error:
        load_initial_weights(
            bundle.model, recurrent, run=bundle.run, segmentation=recurrent.parent / "segmentation", labels={}
        )
    assert str(error.value) == (
        f"The model in {recurrent} has the base recurrent, not transformer, so its weights do not fit: train it again."
    )


def test_recurrent_models_are_loaded_unchanged(tmp_path):
    folder = write_recurrent(tmp_path / "model", HeadSelectionSettings(root="learned"))
    bundle = load_bundle(folder)
    save_bundle(tmp_path / "again", run=bundle.run, model=bundle.model, segmentation=folder)
    again = load_bundle(tmp_path / "again")
    assert again.run == bundle.run
    state, state_again = bundle.model.state_dict(), again.model.state_dict()
    assert state.keys() == state_again.keys()
    assert all(torch.equal(state[name], state_again[name]) for name in state)
    assert list(again.translate(LINES)) == list(bundle.translate(LINES))
    assert [bool(text) for text in bundle.translate(["", "  "])] == [False, False]


def test_unknown_devices_are_an_error(folder):
    with pytest.raises(UserError, match="'nonsense' cannot be used"):
        load_bundle(folder, "nonsense")


def test_every_line_has_one_translation(bundle):
    translations = list(bundle.translate(LINES))
    assert len(translations) == len(LINES)
    assert [i for i, text in enumerate(translations) if not text][:2] == [1, 2]
    assert not any(text.splitlines()[1:] for text in translations)
    assert list(bundle.translate(line.encode() + b"\n" for line in LINES)) == translations


def test_translations_do_not_depend_on_chunks_or_other_lines(bundle):
    together = list(bundle.translate(LINES))
    in_chunks = [translations[0].text for translations in bundle.translate_n_best(LINES, chunk=2)]
    assert in_chunks == together
    assert [next(bundle.translate([line])) for line in LINES] == together


def test_n_best_translations_are_ordered_by_score(bundle):
    (translations,) = bundle.translate_n_best(["the cat"], n_best=3)
    scores = [translation.score for translation in translations]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert translations[0].text == next(bundle.translate(["the cat"]))


def test_very_long_lines_are_translated_in_parts_with_a_message(bundle, monkeypatch, capsys):
    monkeypatch.setattr(raw, "MAX_SUBWORDS", 12)
    text = "the dog . " * 10
    (whole,) = bundle.translate([text])
    assert "standard input, line 1: very long, translated in 3 parts." in capsys.readouterr().err
    parts = list(bundle.translate(["the dog . " * 4, "the dog . " * 4, "the dog . " * 2]))
    assert whole == " ".join(parts)
    assert capsys.readouterr().err == ""


def test_lines_are_read_chunk_by_chunk(bundle):
    read = []

    def lines():
        for line in ["the cat", "dog", "a", "b"]:
            read.append(line)
            yield line

    translations = bundle.translate_n_best(lines(), chunk=2)
    next(translations)
    assert len(read) == 2


@pytest.mark.parametrize(("line", "fault"), [(b"gr\xfc\xdfe\n", "byte 3 is not UTF-8"), (b"a\0b\n", "NUL")])
def test_invalid_text_is_an_error_with_the_line_number(bundle, line, fault):
    with pytest.raises(LineError, match=f"standard input, line 2: .*{fault}"):
        list(bundle.translate([b"the\n", line]))


def test_decoding_settings_can_be_changed(bundle):
    changed = bundle.decoding_settings(beam=1, alpha=None)
    assert (changed.beam, changed.alpha) == (1, bundle.run.decoding.alpha)
    with pytest.raises(UserError, match="beam must be between 1 and 1000"):
        bundle.decoding_settings(beam=0)
    short = bundle.decoding_settings(max_length=1)
    assert isinstance(short, DecodingSettings)
    assert all(len(text.split()) <= 1 for text in bundle.translate(LINES, short))


def test_text_is_detokenised_by_the_settings_of_words(tmp_path):
    bundle = load_bundle(write_bundle(tmp_path / "model", run_settings(words="moses")))
    tokens = bundle.target_vocabulary.ids(["the", "ca@@", "t", "."])
    assert bundle.words(tokens) == ["the", "cat", "."]
    assert bundle.text(tokens) == "the cat."


def test_initial_weights_come_from_a_bundle_with_the_same_vocabularies(tmp_path):
    run = run_settings(DepParseSettings(layer=1))
    folder = write_bundle(tmp_path / "model", run, seed=1)
    size = len(Vocabulary.of(PIECES))
    torch.manual_seed(2)
    model = build_model(run, source_size=size, target_size=size)
    load_initial_weights(model, folder, run=run, segmentation=tmp_path / "segmentation", labels={})
    expected = load_bundle(folder).model.state_dict()
    assert all(torch.equal(tensor, expected[name]) for name, tensor in model.state_dict().items())

    reordered = write_segmentation(tmp_path / "reordered")
    Vocabulary.of([*PIECES[1:], PIECES[0]]).save(reordered / "source.vocab")
    with pytest.raises(UserError, match="trained with a source vocabulary different from"):
        load_initial_weights(model, folder, run=run, segmentation=reordered, labels={})
    wider = build_model(replace(run, model=replace(run.model, width=32)), source_size=size, target_size=size)
    with pytest.raises(UserError, match=r"does not fit run\.json"):
        load_initial_weights(wider, folder, run=run, segmentation=tmp_path / "segmentation", labels={})
    (folder / "weights.safetensors").write_bytes(b"")
    with pytest.raises(UserError, match=r"the sha256 of weights\.safetensors differs"):
        load_initial_weights(model, folder, run=run, segmentation=tmp_path / "segmentation", labels={})
