"""Attention maps of raw text, against the oracle's arithmetic in loops."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from factories import run_settings
from inference.tiny import write_bundle
from oracles import Recurrent as RecurrentOracle
from oracles import TransformerOracle, softmax

from nmtcore.config.bases import RecurrentSettings
from nmtcore.config.components.settings import DepParseSettings, HeadSelectionSettings
from nmtcore.errors import LineError
from nmtcore.inference import attention
from nmtcore.inference.analyse import translate_and_write
from nmtcore.inference.attention import load_observed_bundle
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.schemas import ATTENTION_SCHEMA
from nmtcore.segmentation.vocabulary import BOS

LINES = ["the cat", "", "the dog the do", "cat", "  "]


class ObservedOracle(TransformerOracle):
    """The oracle, recording the weights of every head that attends to the source."""

    def record(self, attention, layer, queries, keys):
        size = self.settings.width // self.settings.heads
        for head in range(self.settings.heads):
            of_head = slice(head * size, (head + 1) * size)
            scores = queries[:, of_head] @ keys[:, of_head].T / np.sqrt(size)
            self.recorded[attention, layer, head] = np.array([softmax(row) for row in scores])

    def self_attention(self, name, x, *, causal):
        if not causal:
            queries, keys, _ = np.split(self.linear(f"{name}.queries_keys_values", x), 3, axis=1)
            self.record("encoder", int(name.split(".")[1]), queries, keys)
        return super().self_attention(name, x, causal=causal)

    def cross_attention(self, name, x, memory):
        keys, _ = np.split(self.linear(f"{name}.keys_values", memory), 2, axis=1)
        self.record("cross", int(name.split(".")[1]), self.linear(f"{name}.queries", x), keys)
        return super().cross_attention(name, x, memory)

    def maps(self, source, target_input):
        self.recorded = {}
        self.logits(source, target_input)
        return self.recorded


@pytest.fixture(scope="module", params=[[], [DepParseSettings(layer=1)]], ids=["plain", "prefix"])
def folder(request, tmp_path_factory):
    return write_bundle(tmp_path_factory.mktemp("attention") / "model", run_settings(*request.param))


def written(path, folder, lines=LINES):
    bundle = load_observed_bundle(folder)
    assert list(translate_and_write(bundle, lines, attention=path)) == list(bundle.translate_n_best(lines))
    table = pq.read_table(path)
    assert table.schema.equals(ATTENTION_SCHEMA)
    return table.to_pylist()


def ids_of(vocabulary, tokens):
    return [vocabulary.entries.index(token) for token in tokens]


@pytest.mark.parametrize("cells", [attention.MAX_CELLS, 1])
def test_every_map_matches_the_oracle(folder, tmp_path, monkeypatch, cells):
    monkeypatch.setattr(attention, "MAX_CELLS", cells)
    rows = written(tmp_path / "maps.parquet", folder)
    bundle = load_bundle(folder)
    translations = list(bundle.translate(LINES))
    assert [row["id"] for row in rows] == [line for line in (0, 2, 3) for _ in range(8)]
    for line in (0, 2, 3):
        own = {(row["attention"], row["layer"], row["head"]): row for row in rows if row["id"] == line}
        assert list(own) == [(a, layer, h) for a in ("encoder", "cross") for layer in range(2) for h in range(2)]
        source, target = own["encoder", 0, 0]["keys"], own["cross", 0, 0]["queries"]
        assert source[-1] == target[-1] == "</s>"
        assert bundle.text(ids_of(bundle.target_vocabulary, target[:-1])) == translations[line]
        inputs = [BOS, *ids_of(bundle.target_vocabulary, target[:-1])]
        expected = ObservedOracle(bundle.model).maps(ids_of(bundle.source_vocabulary, source), inputs)
        for head, row in own.items():
            np.testing.assert_allclose(np.array(row["weights"]), expected[head], atol=6e-5)
            assert row["queries"] == (source if row["attention"] == "encoder" else target)


RECURRENT = {"base": "recurrent", "model": RecurrentSettings(width=16)}
SELECTIONS = {
    "nmt": [],
    "tree": [HeadSelectionSettings()],
    "flat": [HeadSelectionSettings(weights="flat", annotations="separate")],
    "hard": [HeadSelectionSettings(hard=True, annotations="one_set")],
}


def recurrent_folder(tmp_path, selection):
    return write_bundle(tmp_path / "model", run_settings(*SELECTIONS[selection], **RECURRENT))


@pytest.mark.parametrize("selection", SELECTIONS)
def test_the_attention_and_heads_of_a_recurrent_model_match_the_oracle(tmp_path, selection):
    folder = recurrent_folder(tmp_path, selection)
    rows = written(tmp_path / "maps.parquet", folder)
    bundle = load_bundle(folder)
    names = [("cross", 0, 0), *([("head_selection", None, None)] if SELECTIONS[selection] else [])]
    names += [("head_selection", 0, 0)] if selection == "flat" else []
    assert [row["id"] for row in rows] == [line for line in (0, 2, 3) for _ in names]
    for first in range(0, len(rows), len(names)):
        own = rows[first : first + len(names)]
        assert [(row["attention"], row["layer"], row["head"]) for row in own] == names
        source, target = own[0]["keys"], own[0]["queries"]
        assert source[-1] == target[-1] == "</s>"
        oracle = RecurrentOracle(bundle.model)
        inputs = [BOS, *ids_of(bundle.target_vocabulary, target[:-1])]
        oracle.logits(ids_of(bundle.source_vocabulary, source), inputs)
        np.testing.assert_allclose(np.array(own[0]["weights"]), oracle.attention, atol=6e-5)
        if SELECTIONS[selection]:
            assert own[1]["queries"] == own[1]["keys"] == source
            np.testing.assert_allclose(np.array(own[1]["weights"]), oracle.beta.T, atol=6e-5)
            assert np.sum(own[1]["weights"], axis=1) == pytest.approx([1] * (len(source) - 1) + [0], abs=1e-3)
        if selection == "flat":
            assert (own[2]["queries"], own[2]["keys"]) == (target, source)
            np.testing.assert_allclose(np.array(own[2]["weights"]), oracle.own_attention, atol=6e-5)
            assert own[2]["weights"] != own[0]["weights"], "another attention"


def test_keys_have_their_words(folder, tmp_path):
    rows, before = written(tmp_path / "maps.parquet", folder), len(load_bundle(folder).model.components)
    words = rows[8]["key_words"]
    assert words[:before] == [-1] * before
    assert words[before:-1] == [0, 1, 2, 3, 3]  # "do" is in two pieces
    assert words[-1] == -1


def test_lines_and_parts_of_very_long_lines_are_numbered_across_chunks(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("nmtcore.inference.text.MAX_SUBWORDS", 3)
    monkeypatch.setattr("nmtcore.inference.text.MAX_CHARACTERS", 5)
    rows = written(tmp_path / "maps.parquet", folder, ["cat", "", "the " * 7, "dog"])
    assert [(row["id"], row["part"]) for row in rows[::8]] == [(0, 0), (2, 0), (2, 1), (2, 2), (3, 0)]


def test_empty_input_gives_an_empty_file_and_bad_input_none(folder, tmp_path):
    assert written(tmp_path / "maps.parquet", folder, [""]) == []
    with pytest.raises(LineError, match=r"standard input, line 2: is not valid UTF-8 \(byte 1\)"):
        written(tmp_path / "bad.parquet", folder, [b"the", b"\xff"])
    assert not (tmp_path / "bad.parquet").exists()


def test_batches_are_consecutive_and_bounded(monkeypatch):
    monkeypatch.setattr(attention, "MAX_SENTENCES", 4)
    monkeypatch.setattr(attention, "MAX_CELLS", 50)
    lengths = np.array([1, 2, 3, 1, 1, 9, 5, 5, 1, 4])
    batches = [rows.tolist() for rows in attention.bounded_batches(lengths)]
    assert batches == [[0, 1, 2, 3], [4], [5], [6, 7], [8, 9]]
    assert list(attention.bounded_batches(np.array([], dtype=int))) == []
