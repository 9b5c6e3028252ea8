"""The selection of training pairs after annotation."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pair_files import pair_row, write_corpus

from nmtcore.annotation.selection import SELECTION_SCHEMA, select_pairs, selected_batches
from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row
from nmtcore.config.datasets import CopiesSettings, SelectionSettings
from nmtcore.corpus.pairs import PAIR_SCHEMA
from nmtcore.errors import UserError
from nmtcore.files import read_json
from nmtcore.parquet import read_rows, write_rows
from nmtcore.syntax.annotation import Annotation, failed

PARSED = {"target": ("ccg",)}


def write_annotation(path, ids, tagged):
    annotations = (Annotation(ccg=["N"]) if has_tag else failed("no CCG parse") for has_tag in tagged)
    write_rows(path, ANNOTATION_SCHEMA, map(annotation_row, ids, annotations))
    return path


def write_mixed(path, origins):
    """Write pairs of one word, with gaps between their ids as after a filter."""
    rows = [{**pair_row(2 * k, ["a"]), "origin": f"{origin}:{k + 1}"} for k, origin in enumerate(origins)]
    write_rows(path, PAIR_SCHEMA, rows)
    return path


def select(folder, selection, corpus, tagged=None):
    ids = [row["id"] for row in read_rows(corpus, columns=["id"])]
    annotations = {"target": {"ccg": write_annotation(folder / "ccg", ids, tagged)}} if tagged is not None else {}
    output, report = folder / "selection.parquet", folder / "selection.json"
    facts = select_pairs(selection, corpus=corpus, annotations=annotations, output=output, report=report)
    assert facts == read_json(report)
    rows = list(read_rows(output))
    assert [row["id"] for row in rows] == ids
    return [row["kept"] for row in rows], facts


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), per_pair=st.sampled_from([0.5, 1.0, 2.0]), seed=st.integers(0, 3))
def test_copies_are_drawn_after_dropping_pairs_without_a_parse(tmp_path, data, per_pair, seed):
    origins = data.draw(st.lists(st.sampled_from(["pairs", "mono", "mono"]), min_size=1, max_size=30))
    tagged = data.draw(st.lists(st.booleans(), min_size=len(origins), max_size=len(origins)))
    selection = SelectionSettings(parsed=PARSED, copies=CopiesSettings(corpus="mono", per_pair=per_pair, seed=seed))
    corpus = write_mixed(tmp_path / "corpus", origins)
    pairs = sum(tag for tag, origin in zip(tagged, origins, strict=True) if origin == "pairs")
    usable = sum(tag for tag, origin in zip(tagged, origins, strict=True) if origin == "mono")
    needed = round(per_pair * pairs)
    if needed > usable or not pairs:
        with pytest.raises(UserError, match=r"copied sentences are needed|no pair is left"):
            select(tmp_path, selection, corpus, tagged)
        return
    kept, facts = select(tmp_path, selection, corpus, tagged)
    kept_again, _ = select(tmp_path, selection, corpus, tagged)
    assert kept == kept_again
    assert not any(keep and not tag for keep, tag in zip(kept, tagged, strict=True))
    counts = {name: sum(k for k, origin in zip(kept, origins, strict=True) if origin == name) for name in set(origins)}
    assert counts.get("pairs", 0) == pairs
    assert counts.get("mono", 0) == needed
    assert facts["kept"] == pairs + needed
    assert facts["pairs"] - facts["kept"] == sum(facts["dropped"].values())


def test_a_selection_without_pairs_is_an_error(tmp_path):
    corpus = write_corpus(tmp_path / "corpus", [["a"]] * 2)
    with pytest.raises(UserError, match=r"no pair is left of 2: no ccg on the target side \(2\)"):
        select(tmp_path, SelectionSettings(parsed=PARSED), corpus, [False, False])
    assert not (tmp_path / "selection.parquet").exists()


def test_readers_get_only_the_selected_rows(tmp_path, monkeypatch):
    corpus = write_mixed(tmp_path / "corpus", ["x"] * 50)
    kept = [k % 3 == 0 for k in range(50)]
    monkeypatch.setattr("nmtcore.parquet.ROWS_PER_GROUP", 7)
    write_rows(tmp_path / "selection", SELECTION_SCHEMA, [{"id": 2 * k, "kept": own} for k, own in enumerate(kept)])
    batches = selected_batches(corpus, tmp_path / "selection", columns=["id", "origin"])
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert [row["id"] for row in rows] == [2 * k for k in range(50) if kept[k]]
    assert [set(row) for row in rows] == [{"id", "origin"}] * len(rows)
    assert sum(batch.num_rows for batch in selected_batches(corpus, None, columns=["id"])) == 50
