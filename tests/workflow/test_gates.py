"""Gate norms and attention, from the demo corpus to the table of gates and the file of attention."""

import pytest

from nmtcore.files import read_json
from nmtcore.parquet import read_rows

pytestmark = pytest.mark.needs("Snakemake")

SETTINGS = ['datasets=["gated"]', "scale=smoke"]
SYSTEMS = 'systems=["nmt", "sa_nmt_shared", "sa_nmt_1set"]'


def write_data_set(empty):
    counts = {"train": 200, "dev": 10, "test": 20}
    corpora = {split: {"options": {"count": count}} for split, count in counts.items()}
    empty.train_briefly()
    empty.write("datasets/gated", {"extends": "demo_en2de", "corpora": corpora})


def test_the_table_has_the_tags_of_the_references(empty):
    write_data_set(empty)
    table = "results/tables/gates.md"
    finished = empty.run(table, settings=[*SETTINGS, SYSTEMS])
    assert {"train_model", "measure_gates", "gate_table"} <= finished.rules
    folder, data = empty.folder / "results/smoke/gated", empty.folder / "results/gated"
    assert [path.name for path in folder.iterdir()] == ["sa_nmt_shared"]
    gates = list(read_rows(folder / "sa_nmt_shared/seed1/gates/test.parquet"))
    pairs = list(read_rows(data / "corpus/test.parquet"))
    trees = list(read_rows(data / "annotation/existing/test.target.parquet"))
    assert len(gates) == 20
    for row, pair, tree in zip(gates, pairs, trees, strict=True):
        words = [""] * len(pair["target_words"])
        for piece, word, tag in zip(row["pieces"][:-1], row["words"], row["upos"], strict=False):
            words[word] += piece.removesuffix("@@")
            assert tag == tree["upos"][word]
        references = pair["target_words"]
        known = [reference if "<unk>" in word else word for word, reference in zip(words, references, strict=True)]
        assert (row["id"], known) == (pair["id"], references)
        assert (row["pieces"][-1], row["words"][-1], row["upos"][-1]) == ("</s>", -1, None)
        assert len(row["norms"]) == len(row["pieces"])
        assert min(row["norms"]) > 0
    (entry,) = read_json(empty.folder / "results/tables/gates.json")
    assert sum(tag["highest"] for tag in entry["tags"].values()) == entry["tagged"] == 20
    assert sum(tag["words"] for tag in entry["tags"].values()) == sum(len(pair["target_words"]) for pair in pairs)
    text = (empty.folder / table).read_text(encoding="utf-8")
    assert all(f"| gated | sa_nmt_shared | test | {tag} |" in text for tag in entry["tags"])
    attention = "results/smoke/gated/sa_nmt_shared/seed1/attention/test.parquet"
    assert empty.run(attention, settings=[*SETTINGS, SYSTEMS]).rules == {"measure_attention"}
    maps = [(row["id"], row["attention"]) for row in read_rows(empty.folder / attention)]
    assert maps == [(row["id"], name) for row in gates for name in ("cross", "head_selection")]
    assert "Nothing to be done" in empty.run(table, settings=[*SETTINGS, SYSTEMS]).output
    assert empty.partial_files() == []


def test_a_table_without_gates_is_refused(empty):
    write_data_set(empty)
    refused = empty.call("-n", "results/tables/gates.md", settings=[*SETTINGS, 'systems=["nmt"]'])
    assert "Error: A table of gates needs `datasets`, and `systems` that have a gate in the decoder" in refused.output
    refused = empty.call("-n", "results/smoke/gated/sa_nmt_1set/seed1/gates/test.parquet")
    assert "sa_nmt_1set has no gate in the decoder; ask for the gates of sa_nmt_shared." in refused.output
