import json
import shutil
from dataclasses import replace

import pytest
import torch
from factories import run_settings
from inference.tiny import PIECES, write_bundle, write_segmentation

from nmtcore.config.components.parser_head import DepParseSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.errors import LineError, UserError
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


@pytest.fixture
def copy(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "model")


def test_a_model_without_the_labels_that_it_reads_is_not_whole(tmp_path):
    run = run_settings(features={"source": {"trees": "parser"}}, annotators={"parser": {"tool": "existing"}})
    folder = write_bundle(tmp_path / "model", run)
    bundle = load_bundle(folder)
    save_bundle(folder, run=run, model=bundle.model, segmentation=tmp_path / "segmentation")
    with pytest.raises(UserError, match=r"is incomplete: source\.labels\.json is missing"):
        load_bundle(folder)


def test_what_is_saved_is_loaded(tmp_path):
    run = run_settings(DepParseSettings(layer=1))
    bundle = load_bundle(write_bundle(tmp_path / "model", run))
    assert bundle.run == run
    assert not bundle.model.training
    save_bundle(tmp_path / "again", run=run, model=bundle.model, segmentation=tmp_path / "model")
    again = load_bundle(tmp_path / "again")
    own, other = bundle.model.state_dict(), again.model.state_dict()
    assert own.keys() == other.keys()
    assert all(torch.equal(own[name], other[name]) for name in own)
    assert again.model.source_embedding is again.model.target_embedding
    assert list(again.translate(LINES)) == list(bundle.translate(LINES))


def test_loading_leaves_the_random_generator_alone(folder):
    torch.manual_seed(4)
    expected = torch.rand(3)
    torch.manual_seed(4)
    load_bundle(folder)
    assert torch.equal(torch.rand(3), expected)


def test_labels_travel_along(tmp_path):
    labels = {"source": {kind: ["<none>", "<unk>", "x"] for kind in ("deprel", "ccg")}}
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


def test_a_failed_save_leaves_the_old_model_and_nothing_beside_it(folder, bundle, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "here" / "model")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UserError, match="does not exist"):
        save_bundle(copy, run=bundle.run, model=bundle.model, segmentation=empty)
    load_bundle(copy)
    assert [path.name for path in copy.parent.iterdir()] == ["model"]


def test_a_model_is_replaced_whole(copy, bundle):
    (copy / "stray").write_text("from before")
    save_bundle(copy, run=bundle.run, model=bundle.model, segmentation=write_segmentation(copy.parent / "cuts"))
    assert not (copy / "stray").exists()
    load_bundle(copy)


@pytest.mark.parametrize("name", ["weights.safetensors", "run.json", "source.vocab", "codes", "bundle.json"])
def test_a_missing_file_is_named(copy, name):
    (copy / name).unlink()
    with pytest.raises(UserError, match=f"{name} is missing"):
        load_bundle(copy)


@pytest.mark.parametrize("name", ["weights.safetensors", "run.json", "target.vocab", "codes"])
def test_a_damaged_file_is_named(copy, name):
    content = bytearray((copy / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / name).write_bytes(content)
    with pytest.raises(UserError, match=f"{name} is damaged"):
        load_bundle(copy)


def listed_again(folder):
    """Write bundle.json for files as they are now: a folder put together by hand."""
    from nmtcore.inference.bundle import FORMAT, _sha256

    files = {path.name: _sha256(path) for path in folder.iterdir() if path.name != "bundle.json"}
    (folder / "bundle.json").write_text(json.dumps({"format": FORMAT, "files": files}))


def test_files_of_different_models_are_not_mixed(copy):
    with open(copy / "source.vocab", "a") as file:
        file.write("another\n")
    shutil.copyfile(copy / "source.vocab", copy / "target.vocab")
    listed_again(copy)
    with pytest.raises(UserError, match=r"weights\.safetensors does not match .*: target_embedding\.weight differs"):
        load_bundle(copy)


def test_truncated_weights_are_said(copy):
    content = (copy / "weights.safetensors").read_bytes()
    (copy / "weights.safetensors").write_bytes(content[: len(content) // 2])
    listed_again(copy)
    with pytest.raises(UserError, match=r"weights\.safetensors cannot be read"):
        load_bundle(copy)


def test_other_formats_and_no_folder_are_said(copy, tmp_path):
    (copy / "bundle.json").write_text('{"format": 99, "files": {}}')
    with pytest.raises(UserError, match=f"not of format {FORMAT}"):
        load_bundle(copy)
    with pytest.raises(UserError, match="no such folder"):
        load_bundle(tmp_path / "nowhere")


def test_a_device_that_is_not_there_is_said(folder):
    with pytest.raises(UserError, match="'nonsense' cannot be used"):
        load_bundle(folder, "nonsense")


def test_every_line_gives_one_line(bundle):
    translations = list(bundle.translate(LINES))
    assert len(translations) == len(LINES)
    assert [i for i, text in enumerate(translations) if not text][:2] == [1, 2]
    assert not any(text.splitlines()[1:] for text in translations)
    assert list(bundle.translate(line.encode() + b"\n" for line in LINES)) == translations


def test_chunks_and_neighbours_change_nothing(bundle):
    together = list(bundle.translate(LINES))
    in_chunks = [found[0][0] for found in bundle.translate_n_best(LINES, chunk=2)]
    assert in_chunks == together
    assert [next(bundle.translate([line])) for line in LINES] == together


def test_n_best_are_different_and_ordered(bundle):
    (found,) = bundle.translate_n_best(["the cat"], n_best=3)
    assert len(found) == 3
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert found[0][0] == next(bundle.translate(["the cat"]))


def test_a_very_long_line_is_translated_in_parts_and_said(bundle, monkeypatch, capsys):
    monkeypatch.setattr(raw, "MAX_SUBWORDS", 12)
    text = "the dog . " * 10
    (whole,) = bundle.translate([text])
    assert "standard input, line 1: very long, translated in 3 parts." in capsys.readouterr().err
    parts = list(bundle.translate(["the dog . " * 4, "the dog . " * 4, "the dog . " * 2]))
    assert whole == " ".join(parts)
    assert capsys.readouterr().err == ""


def test_reading_is_a_stream(bundle):
    read = []

    def lines():
        for line in ["the cat", "dog", "a", "b"]:
            read.append(line)
            yield line

    translations = bundle.translate_n_best(lines(), chunk=2)
    next(translations)
    assert len(read) == 2


@pytest.mark.parametrize(("line", "fault"), [(b"gr\xfc\xdfe\n", "byte 3 is not UTF-8"), (b"a\0b\n", "NUL")])
def test_what_is_no_text_is_said_with_its_line(bundle, line, fault):
    with pytest.raises(LineError, match=f"standard input, line 2: .*{fault}"):
        list(bundle.translate([b"the\n", line]))


def test_settings_may_be_changed(bundle):
    changed = bundle.decoding_settings(beam=1, alpha=None)
    assert (changed.beam, changed.alpha) == (1, bundle.run.decoding.alpha)
    with pytest.raises(UserError, match="beam must be between 1 and 1000"):
        bundle.decoding_settings(beam=0)
    short = bundle.decoding_settings(max_length=1)
    assert isinstance(short, DecodingSettings)
    assert all(len(text.split()) <= 1 for text in bundle.translate(LINES, short))


def test_text_is_detokenised_as_the_words_were_made(tmp_path):
    bundle = load_bundle(write_bundle(tmp_path / "model", run_settings(words="moses")))
    tokens = bundle.target_vocabulary.ids(["the", "ca@@", "t", "."])
    assert bundle.words(tokens) == ["the", "cat", "."]
    assert bundle.text(tokens) == "the cat."


def test_a_model_starts_from_a_bundle_with_the_same_vocabularies(tmp_path):
    run = run_settings(DepParseSettings(layer=1))
    folder = write_bundle(tmp_path / "model", run, seed=1)
    size = len(Vocabulary.of(PIECES))
    torch.manual_seed(2)
    model = build_model(run, source_size=size, target_size=size)
    load_initial_weights(model, folder, run=run, segmentation=tmp_path / "segmentation")
    expected = load_bundle(folder).model.state_dict()
    assert all(torch.equal(tensor, expected[name]) for name, tensor in model.state_dict().items())

    other = write_segmentation(tmp_path / "other")
    Vocabulary.of([*PIECES[1:], PIECES[0]]).save(other / "source.vocab")
    with pytest.raises(UserError, match="trained with a source vocabulary different from"):
        load_initial_weights(model, folder, run=run, segmentation=other)
    wider = build_model(replace(run, model=replace(run.model, width=32)), source_size=size, target_size=size)
    with pytest.raises(UserError, match="does not match"):
        load_initial_weights(wider, folder, run=run, segmentation=tmp_path / "segmentation")
    (folder / "weights.safetensors").write_bytes(b"")
    with pytest.raises(UserError, match="damaged or was changed"):
        load_initial_weights(model, folder, run=run, segmentation=tmp_path / "segmentation")
