"""The functions for notebooks: what they draw and compare, and what they refuse; the tour is in test_site.py."""

import re
from xml.etree import ElementTree

import pytest
from factories import run_settings
from inference.tiny import write_bundle

from nmtcore.config.components.settings import DepParseSettings
from nmtcore.errors import UserError
from nmtcore.files import write_json, write_lines
from nmtcore.notebook import Picture, TrainedRun, compare_runs, load_model, train_system


@pytest.fixture(scope="module")
def parser(tmp_path_factory):
    """A model with a parser head, untrained."""
    folder = tmp_path_factory.mktemp("parser") / "model"
    write_bundle(folder, run_settings(components={"depparse": DepParseSettings(layer=0)}))
    return load_model(folder)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain") / "model"
    write_bundle(folder, run_settings())
    return load_model(folder)


def texts_of(picture):
    return [
        "".join(element.itertext()) for element in ElementTree.fromstring(picture.svg).iter() if "text" in element.tag
    ]


def test_translates_as_the_bundle_does(plain):
    sentences = ["the cat", "the dog ."]
    assert plain.translate(sentences) == list(plain.bundle.translate(sentences))
    assert plain.look_at("the cat").translation == plain.translate(["the cat"])[0]


def test_draws_the_predicted_heads(parser):
    view = parser.look_at("the cat")
    assert {"the", "cat"} <= set(texts_of(view.tree()))
    assert view.tree().svg.count("stroke-dasharray") == view.sentence.parse.count(0)


def test_draws_the_weights_of_the_named_head(plain):
    view = plain.look_at("the cat")
    picture = view.attention(0, 1)
    (number,) = [n for n, own in enumerate(view.analysed.heads) if own[:3] == ("encoder", 0, 1)]
    assert texts_of(picture).count("</s>") == 2
    assert view.sentence.weights[number].shape == (3, 3)
    assert "encoder, layer 0, head 1" in picture.svg
    cross = texts_of(view.attention(0, 0, stack="cross"))
    assert cross.count("</s>") == 2
    assert {*view.sentence.source_tokens, *view.sentence.target_tokens} <= set(cross)


@pytest.mark.parametrize(
    ("layer", "head", "stack"), [(9, 0, "encoder"), (0, 99, "encoder"), (0, 0, "decoder"), (0, -1, "cross")]
)
def test_a_head_that_is_not_there_is_an_error(plain, layer, head, stack):
    with pytest.raises(
        UserError, match=rf"no {stack} attention of layer {layer}, head {head}\. The layers are: .*encoder 0"
    ):
        plain.look_at("the cat").attention(layer, head, stack=stack)


def test_a_model_that_does_not_parse_has_no_tree(plain):
    with pytest.raises(UserError, match="does not predict heads"):
        plain.look_at("the cat").tree()


@pytest.mark.parametrize("sentence", ["", " \t"])
def test_a_sentence_without_words_is_an_error(plain, sentence):
    with pytest.raises(UserError, match="no words"):
        plain.look_at(sentence)


def test_a_picture_is_shown_and_saved_but_not_printed(tmp_path):
    picture = Picture("<svg/>")
    picture.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text() == picture._repr_svg_() == "<svg/>"
    assert "svg/" not in repr(picture)


def write_run(folder, system, lines, references, *, test="test", **evaluation):
    run = folder / system
    (run / "hypotheses").mkdir(parents=True)
    write_lines(run / f"hypotheses/{test}.txt", lines)
    write_lines(run / f"hypotheses/{test}.references.txt", references)
    scores = {name: {"bleu": value, "chrf": 2.0} for name, value in ((test, 1.0), ("dev", 3.0))}
    write_json(run / "scores.json", {"bleu": scores, "uas": {test: {"argmax": {"uas": 4.0}}}})
    write_json(run / "model/run.json", {"evaluation": evaluation})
    return TrainedRun(system, run)


def test_a_comparison_shows_the_difference_from_the_first_run(tmp_path):
    references = [f"this is sentence number {n} of the test" for n in range(60)]
    worse = [line if n % 2 else f"that was line {n}" for n, line in enumerate(references)]
    runs = [write_run(tmp_path, name, lines, references) for name, lines in (("right", references), ("wrong", worse))]
    compared = compare_runs(*runs)
    base, other = (line.split() for line in re.findall("^(?:right|wrong) +1 .*", str(compared), re.MULTILINE))
    assert base == ["right", "1", "100.00"]
    name, seeds, score, difference, low, _, high, *_ = other
    assert (name, seeds) == ("wrong", "1")
    assert float(difference) == pytest.approx(float(score) - 100, abs=0.011)
    assert float(low) < float(difference) < float(high) < 0
    assert ElementTree.fromstring(compared._repr_html_()).text == str(compared)


def test_the_main_test_may_have_any_name(tmp_path):
    lines = [f"one line with the number {n}" for n in range(10)]
    runs = [write_run(tmp_path, name, lines, lines, test="test_wmt16") for name in ("a", "b")]
    assert runs[0].scores == {"BLEU": 1.0, "chrF": 2.0, "UAS": 4.0}
    assert re.search(r"^a +1 +100\.00$", str(compare_runs(*runs)), re.MULTILINE)


def test_a_comparison_scores_as_the_data_set_says(tmp_path):
    references, lines = ["A cat , a dog and an owl"] * 5, ["a CAT , a dog and an owl"] * 5
    settings = {"text": "tokens", "tokenize": "none", "lowercase": True}
    runs = [write_run(tmp_path, name, lines, references, **settings) for name in ("a", "b")]
    compared = compare_runs(*runs)
    assert "  100.00\n" in str(compared)
    assert "case:lc|eff:no|tok:none" in str(compared)


def test_a_system_cannot_be_compared_with_itself(tmp_path):
    run = write_run(tmp_path, "a", ["x", "y"], ["x", "y"])
    with pytest.raises(UserError, match="each system once, not a, a"):
        compare_runs(run, run)


def test_unknown_names_are_errors_before_anything_runs(tmp_path):
    with pytest.raises(UserError, match=r"unknown system 'depparse_1'.*depparse_l1"):
        train_system("depparse_1", dataset="demo_en2de", scale="smoke", folder=tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.needs("Snakemake")
def test_a_failure_of_the_workflow_says_where_it_failed(tmp_path):
    (tmp_path / "results").write_text("not a folder")
    with pytest.raises(
        UserError, match=r"could not make .*/results/smoke/demo_en2de/.*Its last lines:\n(.|\n)*results"
    ):
        train_system("transformer_base", dataset="demo_en2de", scale="smoke", folder=tmp_path)
