"""Sources without words: they are translated, parsed, trained on and observed like others, in any batch."""

import io
import sys

import numpy as np
import pytest
import torch
from factories import run_settings, side
from inference.tiny import random_examples, write_bundle

from nmtcore.cli import main
from nmtcore.config.components.settings import HeadSelectionSettings, TreeHeadSettings
from nmtcore.config.recurrent import RecurrentSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.features.examples import Examples
from nmtcore.inference.attention import load_observed_bundle, observe
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.parse import parse_examples, translate_and_parse
from nmtcore.model.batch import make_batch

SYSTEMS = {
    "nmt": [],
    "tree": [HeadSelectionSettings()],
    "many roots": [HeadSelectionSettings(annotations="separate", root="learned", roots="many")],
    "hard": [HeadSelectionSettings(hard=True)],
    "one set": [HeadSelectionSettings(annotations="one_set")],
    "flat": [HeadSelectionSettings(weights="flat")],
    "transformer": [TreeHeadSettings()],
}
SETTINGS = DecodingSettings(beam=3, batch_sentences=4)


@pytest.fixture(params=SYSTEMS)
def folder(request, tmp_path):
    components = SYSTEMS[request.param]
    base = {} if request.param == "transformer" else {"base": "recurrent", "model": RecurrentSettings(width=16)}
    return write_bundle(tmp_path / "model", run_settings(*components, **base))


def some_empty(count: int = 9) -> Examples:
    """Make examples some of whose sources are empty, and some of whose targets are."""
    examples = random_examples(count, seed=3, longest=4)
    assert 0 < (examples.source.ids.lengths == 0).sum() < count
    target = side([[5, 6, 7][: i % 4] for i in range(count)])
    return Examples(id=examples.id, source=examples.source, target=target)


def test_empty_sources_are_translated_and_parsed(folder):
    model, examples = load_bundle(folder).model, some_empty()
    translations, parses = translate_and_parse(model, examples, SETTINGS)
    empty = np.flatnonzero(examples.source.ids.lengths == 0)
    for rows in (np.arange(len(examples)), empty):
        again, _ = translate_and_parse(model, examples.take(rows), SETTINGS)
        assert [n_best[0].tokens for n_best in again] == [translations[row][0].tokens for row in rows]
    if not model.parses:
        assert parses is None
        return
    assert [len(parse.argmax) for parse in parses] == [
        len(set(examples.source.word_of_subword[row].tolist())) for row in range(len(examples))
    ]
    assert [len(parse.one_root) for parse in parse_examples(model, examples.take(empty))] == [0] * len(empty)


def test_empty_sources_are_trained_on(folder):
    model, examples = load_bundle(folder).model.double().train(), some_empty()
    empty = np.flatnonzero(examples.source.ids.lengths == 0)
    sums = []
    for rows in (np.arange(len(examples)), empty):
        batch = make_batch(examples, rows, tuple(model.components))
        model.zero_grad()
        losses = model.loss(batch, label_smoothing=0.1)
        losses.objective().backward()
        gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        assert all(torch.isfinite(gradient).all() for gradient in gradients)
        sums.append(losses.nll_sum.item())
    assert np.isfinite(sums).all()


def test_empty_sources_are_observed(folder):
    bundle, examples = load_observed_bundle(folder), some_empty()
    (observed,) = observe(bundle, examples, lambda observed, _: observed)
    weights = [*(weights_BHQK[:, -1] for weights_BHQK in observed.maps.values()), *observed.source_weights.values()]
    for weights_BSS in weights:
        assert torch.isfinite(weights_BSS).all()
    for weights_BSS in observed.source_weights.values():
        sums_BS = weights_BSS.sum(-1)
        words_BS = torch.from_numpy(observed.words_BS) >= 0
        torch.testing.assert_close(sums_BS, words_BS.float())


@pytest.mark.parametrize("command", [["translate"], ["parse"], ["attention", "--cross", "-o", "maps.parquet"]])
def test_commands_skip_lines_without_words(folder, tmp_path, monkeypatch, capsysbinary, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n  \n\n")))
    if command == ["parse"] and not load_bundle(folder).model.parses:
        with pytest.raises(SystemExit):
            main(["parse", str(folder)])
        return
    main([command[0], str(folder), *command[1:]])
    lines = {"translate": 3, "parse": 9, "attention": 0}[command[0]]
    assert capsysbinary.readouterr().out.count(b"\n") == lines
