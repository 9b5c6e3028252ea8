"""Bundles: saving, loading, damaged files, translation of raw text, and components of the user's own."""

import json
import re
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from factories import run_settings
from inference.tiny import PIECES, RECURRENT, fit_checksums, write_bundle, write_segmentation

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.config.components import (
    COMPONENTS,
    DepParseSettings,
    FactorsSettings,
    HeadSelectionSettings,
    TagAttentionSettings,
    TreeDistanceSettings,
    TreeTraversalSettings,
)
from nmtcore.errors import UserError
from nmtcore.files import write_json
from nmtcore.inference.bundle import load_bundle, load_initial_weights, save_bundle
from nmtcore.model.build import build_model
from nmtcore.new.component import new_component_files
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


@pytest.mark.parametrize("base", ["transformer", "recurrent"])
def test_saved_models_are_loaded_unchanged(tmp_path, base):
    values = RECURRENT if base == "recurrent" else {}
    component = HeadSelectionSettings() if values else DepParseSettings(layer=1)
    run = run_settings(component, **values)
    torch.manual_seed(4)
    expected = torch.rand(3)
    folder = write_bundle(tmp_path / "model", run)
    torch.manual_seed(4)
    bundle = load_bundle(folder)
    assert torch.equal(torch.rand(3), expected), "loading changes the random state"
    assert (bundle.run, bundle.model.training) == (run, False)
    save_bundle(tmp_path / "again", run=run, model=bundle.model, segmentation=folder)
    again = load_bundle(tmp_path / "again")
    state, state_again = bundle.model.state_dict(), again.model.state_dict()
    assert state.keys() == state_again.keys()
    assert all(torch.equal(state[name], state_again[name]) for name in state)
    assert again.model.source_embedding is again.model.target_embedding
    assert list(again.translate(LINES)) == list(bundle.translate(LINES))


def test_a_failed_save_keeps_the_old_model_and_a_whole_one_replaces_all_of_it(copy, bundle):
    (copy / "stray").write_text("from before")
    before = sorted(copy.parent.iterdir())
    with pytest.raises(UserError, match="does not exist"):
        save_bundle(copy, run=bundle.run, model=bundle.model, segmentation=copy.parent / "nowhere")
    load_bundle(copy)
    assert sorted(copy.parent.iterdir()) == before
    save_bundle(copy, run=bundle.run, model=bundle.model, segmentation=write_segmentation(copy.parent / "cuts"))
    assert not (copy / "stray").exists()
    load_bundle(copy)


def damage(name):
    def change(folder):
        content = bytearray((folder / name).read_bytes())
        content[len(content) // 2] ^= 1
        (folder / name).write_bytes(content)

    return change


def change_json(name, **changes):
    """Change a file as somebody would by hand, and its checksum."""

    def change(folder):
        write_json(folder / name, {**json.loads((folder / name).read_text()), **changes})
        fit_checksums(folder)

    return change


FILES = ("weights.safetensors", "run.json", "codes")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        *((lambda folder, name=n: (folder / name).unlink(), f"{n} is missing") for n in (*FILES, "bundle.json")),
        *((damage(name), f"the sha256 of {name} differs from that in bundle.json") for name in FILES),
        (lambda folder: write_json(folder / "bundle.json", {"format": 99}), "bundle.json is not of format 3"),
        (shutil.rmtree, "there is no such folder"),
        (
            change_json("run.json", model={"width": 8, "heads": 2}),
            r"\S+ in weights\.safetensors does not fit run\.json and the vocabularies",
        ),
    ],
)
def test_broken_models_are_refused(copy, change, reason):
    change(copy)
    with pytest.raises(UserError) as error:
        load_bundle(copy)
    assert re.fullmatch(rf"{copy} is not a whole model \({reason}\): copy or train it again\.", str(error.value))


@pytest.mark.parametrize("name", ["weights.safetensors", "run.json"])
def test_a_file_that_was_edited_together_with_its_checksum_is_refused(copy, name):
    (copy / name).write_bytes((copy / name).read_bytes()[:-9])
    fit_checksums(copy)
    with pytest.raises(UserError, match=re.escape(name)):
        load_bundle(copy)


def test_the_folder_of_a_run_is_explained(folder):
    with pytest.raises(UserError, match=f"is not a model but contains one: {folder}"):
        load_bundle(folder.parent)


def test_every_line_has_one_translation_whatever_the_chunks_and_the_other_lines(bundle):
    translations = list(bundle.translate(LINES))
    assert len(translations) == len(LINES)
    assert [i for i, text in enumerate(translations) if not text][:2] == [1, 2]
    assert not any(text.splitlines()[1:] for text in translations)
    assert list(bundle.translate(line.encode() + b"\n" for line in LINES)) == translations
    assert [best.text for best, *_ in bundle.translate_n_best(LINES, chunk=2)] == translations
    assert [next(bundle.translate([line])) for line in LINES] == translations


def test_initial_weights_come_from_a_bundle_with_the_same_vocabularies(tmp_path):
    run = run_settings(DepParseSettings(layer=1))
    folder = write_bundle(tmp_path / "model", run, seed=1)
    size = len(Vocabulary.of(PIECES))
    torch.manual_seed(2)
    model = build_model(run, source_size=size, target_size=size)
    load_initial_weights(model, folder, run=run, segmentation=tmp_path / "segmentation", labels={})
    expected = load_bundle(folder).model.state_dict()
    assert all(torch.equal(tensor, expected[name]) for name, tensor in model.state_dict().items())

    labels = {"source": {"upos": ["<none>", "<unk>", "NOUN"]}}
    with_factors = replace(
        run, components={**run.components, "factors": FactorsSettings(columns={"upos": 2}, combine="add")}
    )
    wider = build_model(with_factors, source_size=size, target_size=size, labels=labels)
    load_initial_weights(wider, folder, run=with_factors, segmentation=tmp_path / "segmentation", labels=labels)
    assert all(torch.equal(tensor, expected.get(name, tensor)) for name, tensor in wider.state_dict().items())
    assert expected.keys() < wider.state_dict().keys()

    reordered = write_segmentation(tmp_path / "reordered")
    Vocabulary.of([*PIECES[1:], PIECES[0]]).save(reordered / "source.vocab")
    with pytest.raises(UserError, match="trained with a source vocabulary different from"):
        load_initial_weights(model, folder, run=run, segmentation=reordered, labels={})
    wider = build_model(replace(run, model=replace(run.model, width=32)), source_size=size, target_size=size)
    with pytest.raises(UserError, match=r"does not fit run\.json"):
        load_initial_weights(wider, folder, run=run, segmentation=tmp_path / "segmentation", labels={})
    other = write_bundle(tmp_path / "recurrent" / "model", run_settings(**RECURRENT))
    with pytest.raises(UserError, match="was trained with another base than this run's: train it again"):
        load_initial_weights(model, other, run=run, segmentation=tmp_path / "segmentation", labels={})


def test_initial_weights_come_from_a_bundle_with_the_same_labels(tmp_path):
    run = run_settings(TagAttentionSettings(), features={"target": {"ccg_tags": "easyccg"}})
    model = load_bundle(write_bundle(tmp_path / "model", run, label_names=["N", "NP"])).model
    files = {"run": run, "segmentation": tmp_path / "segmentation"}
    same, other = ({"target": {"ccg": [*LABEL_SPECIALS, *names]}} for names in (["N", "NP"], ["NP", "N"]))
    load_initial_weights(model, tmp_path / "model", **files, labels=same)
    with pytest.raises(UserError, match="was trained with other labels of ccg than those of this run's data: train it"):
        load_initial_weights(model, tmp_path / "model", **files, labels=other)


def test_what_is_new_begins_neutral_and_what_the_start_has_keeps_its_weights_wherever_it_stands(tmp_path):
    values = {"maximum": 2, "replaces_positions": False}
    had = {"traversal": TreeTraversalSettings(**values), "factors": FactorsSettings(columns={"upos": 2}, combine="add")}
    added = {"distance": TreeDistanceSettings(**values)}
    run = run_settings(components=had, features={"source": {"trees": "existing", "pos_tags": "existing"}})

    def moved(model, vocabulary):
        for weight in model.components.parameters():
            torch.nn.init.normal_(weight)
        return model

    bundle = load_bundle(write_bundle(tmp_path / "model", run, train=moved))
    saved, labels, size = bundle.model, bundle.labels, len(Vocabulary.of(PIECES))
    for components, had_at in (({**added, **had}, (1, 2)), ({"traversal": had["traversal"], **added, **had}, (0, 2))):
        new = replace(run, components=components)
        model = build_model(new, source_size=size, target_size=size, labels=labels)
        (distance,) = (component for component in model.components if component.name == "distance")
        assert all(weight.any() for weight in distance.parameters()), "as drawn"
        load_initial_weights(model, tmp_path / "model", run=new, segmentation=tmp_path / "segmentation", labels=labels)
        assert not any(weight.any() for weight in distance.parameters())
        by_name = {component.name: component for component in model.components}
        for component in saved.components:
            loaded = dict(by_name[component.name].named_parameters())
            assert all(torch.equal(loaded[name], weight) for name, weight in component.named_parameters())
        assert tuple(n for n, component in enumerate(model.components) if component.name in had) == had_at
    fewer = replace(run, components={"factors": had["factors"]})
    model = build_model(fewer, source_size=size, target_size=size, labels=labels)
    with pytest.raises(UserError, match="with the component traversal, which this run lacks: train it"):
        load_initial_weights(
            model, tmp_path / "model", run=fewer, segmentation=tmp_path / "segmentation", labels=labels
        )


REFUSED = "has a component of its author's own, 'shift', which is not at config/components/shift.py"
WRITTEN = "return embedded_BSD + self.settings.strength * self.vector_D.to(embedded_BSD.dtype)\n"


@pytest.fixture
def code(tmp_path, monkeypatch):
    """The file of the component `shift` in the working folder."""
    path, *_ = files = new_component_files("shift", SimpleNamespace(system_entries=()), tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text(files[path].replace("return embedded_BSD\n", WRITTEN), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return path


@pytest.fixture
def model_with_own(code, tmp_path):
    """A bundle with the component."""
    return write_bundle(tmp_path / "model", run_settings(COMPONENTS.build_named("shift", {}, where="test")))


def test_a_model_with_an_own_component_translates(model_with_own, code):
    assert (model_with_own / "own.shift.py").read_text(encoding="utf-8") == code.read_text(encoding="utf-8")
    assert len(list(load_bundle(model_with_own).translate(["the cat", ""]))) == 2


def test_another_version_is_refused_unless_only_comments_differ(model_with_own, code):
    text = code.read_text(encoding="utf-8")
    code.write_text(f"# A comment.\n{text}", encoding="utf-8")
    assert load_bundle(model_with_own).translate(["the cat"])
    code.write_text(text.replace(WRITTEN, WRITTEN.replace("+", "-")), encoding="utf-8")
    with pytest.raises(UserError, match=REFUSED):
        load_bundle(model_with_own)
