"""Exported models: the code of their README, run with the real libraries, translates as nmtcore does."""

import re
import sys

import pytest
from conftest import skip_unless_ci
from factories import run_settings
from inference.tiny import PIECES, trained_briefly, write_bundle

from nmtcore.cli import main
from nmtcore.config.bases import RecurrentSettings
from nmtcore.config.components.settings import DepParseSettings
from nmtcore.config.segmentation import SegmentationSettings, WordsSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.config.transforms import InterleaveSettings, ParsingTaskSettings
from nmtcore.config.versions import MANIFESTS
from nmtcore.files import read_json, write_json
from nmtcore.inference.bundle import load_bundle
from nmtcore.segmentation.vocabulary import SPECIALS

GREEDY = DecodingSettings(beam=1, max_length_ratio=1.5, max_length_extra=4)
LINES = [
    "the cat",
    "dog",
    "the dog . the cat",
    "bad goat",
    "<s> cab , </s>",
    "a <ROOT> the",
    "größe the the",
    "hot tea .",
]
CORPUS = {
    "kind": "corpus", "name": "news", "licence": "CC BY 4.0", "citation": "A paper", "file": "news.txt", "sha256": None,
}  # fmt: skip


@pytest.fixture(autouse=True)
def libraries():
    for name in ("ctranslate2", "subword_nmt"):
        try:
            __import__(name)
        except ModuleNotFoundError:
            skip_unless_ci(f"{name} is not installed")


def export(tmp_path, *components, prepare=None, trained=False, **values):
    """Write a bundle and export it; return both folders."""
    options = {"train": trained_briefly} if trained else {}
    run = run_settings(*components, **{"decoding": GREEDY, **values})
    model = write_bundle(tmp_path / "run" / "model", run, **options)
    if prepare is not None:
        prepare(model)
    main(["export", str(model), "--to", "ctranslate2", str(tmp_path / "exported")])
    return model, tmp_path / "exported"


def refused(capsys, *arguments):
    """Return the sentence of a command that must fail."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as exit:
        main(["export", *map(str, arguments)])
    output, errors = capsys.readouterr()
    assert (exit.value.code, output, errors.count("\n")) == (2, "", 1)
    return errors


def translate_by_readme(folder, monkeypatch):
    """Run the code of the README in its folder; return its function."""
    monkeypatch.chdir(folder)
    (code,) = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    exec(code, names)
    return names["translate"]


SYSTEMS = {
    "plain": ((), {}),
    "separate vocabularies": ((), {"segmentation": SegmentationSettings(kind="bpe", size=6)}),
    "whole words": ((), {"segmentation": SegmentationSettings(kind="words", size=30)}),
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
    model, folder = export(tmp_path, *components, trained=True, **values)
    translate = translate_by_readme(folder, monkeypatch)
    expected = list(load_bundle(model).translate(LINES))
    assert [" ".join(translate([line.split()])[0]) for line in LINES] == expected
    assert len(set(expected)) > 3


def test_the_folder_says_how_to_make_the_input(tmp_path):
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
    assert about["licences"] is None
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("# en to de: tiny\n\nA translation model trained by nmtcore ")
    assert "$" not in readme


def test_the_licences_of_the_data_come_from_the_manifest_of_the_run(tmp_path):
    def write_manifest(model):
        manifest = {"format": MANIFESTS, "dataset": "d", "data": {"files": [CORPUS]}}
        write_json(model.parent / "manifest.json", manifest)

    _, folder = export(tmp_path, prepare=write_manifest)
    (entry,) = read_json(folder / "nmtcore.json")["licences"]
    assert (entry["name"], entry["licence"], entry["citation"]) == ("news", "CC BY 4.0", "A paper")


@pytest.mark.parametrize(("penalty", "exponent"), [("none", 0.0), ("fairseq", 1.2), ("gnmt", 1.2)])
def test_the_search_is_described(penalty, exponent, tmp_path):
    _, folder = export(tmp_path, decoding=DecodingSettings(beam=4, length_penalty=penalty, alpha=1.2))
    options = {"beam_size": 4, "length_penalty": exponent, "min_decoding_length": 0, "max_input_length": 0}
    assert read_json(folder / "nmtcore.json")["options"] == options


def test_a_folder_with_files_is_not_replaced(tmp_path, capsys):
    model, folder = export(tmp_path)
    before = sorted(path.name for path in folder.iterdir())
    expected = f"nmtcore export: {folder} exists: name a new folder to export to, or delete it first.\n"
    assert refused(capsys, model, "--to", "ctranslate2", folder) == expected
    assert sorted(path.name for path in folder.iterdir()) == before
    (tmp_path / "empty").mkdir()
    main(["export", str(model), "--to", "ctranslate2", str(tmp_path / "empty")])
    assert (tmp_path / "empty" / "model.bin").read_bytes() == (folder / "model.bin").read_bytes()


def test_models_that_need_more_are_refused_with_a_sentence(tmp_path, capsys):
    """A component that does is refused in test_ctranslate2_model."""
    tags = {"features": {"source": {"ccg_tags": "parser"}}, "annotators": {"parser": {"tool": "existing"}}}
    interleave = {"interleave": InterleaveSettings(side="source", tags="ccg_tags")}
    runs = {
        "its transform interleave reads features of each source, which": run_settings(transforms=interleave, **tags),
        "its base is recurrent, and only transformers can be exported.": run_settings(
            base="recurrent", model=RecurrentSettings(width=16)
        ),
    }
    for number, (sentence, run) in enumerate(runs.items()):
        model = write_bundle(tmp_path / str(number) / "model", run)
        error = refused(capsys, model, "--to", "ctranslate2", tmp_path / "exported")
        assert error.startswith(f"nmtcore export: {model} cannot be exported: {sentence}")
    assert not (tmp_path / "exported").exists()


def test_a_missing_library_is_one_sentence(tmp_path, capsys, monkeypatch):
    model = write_bundle(tmp_path / "model", run_settings())
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    assert refused(capsys, model, "--to", "ctranslate2", tmp_path / "exported") == (
        "nmtcore export: this needs the package ctranslate2, which is not installed: pip install 'nmtcore[export]'.\n"
    )
