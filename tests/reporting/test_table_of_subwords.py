"""The table of facts about subwords."""

import pytest
from evaluation.test_subword_counts import write_tokens
from reporting.planned import planned, shown, unlinked

from nmtcore.errors import UserError
from nmtcore.files import write_json
from nmtcore.layout import Layout
from nmtcore.reporting.table import Table
from nmtcore.reporting.table_kinds.subwords import share_of_words, subwords_content


def content_of(tmp_path, facts, published):
    names = {"dataset": "paper_set", "ours": "d"}
    sources = {name: {**names, **source} for name, source in facts.items()}
    return subwords_content(planned("subwords", [], facts=published, more={"facts": sources}), Layout())


def test_shares_and_dropped_pairs(tmp_path):
    tokens = str(write_tokens(tmp_path / "t.parquet", [[0], [0, 0], [0, 1, 1, 1]]))
    write_json(tmp_path / "train.json", {"dropped": {"length": 3, "langdetect": 12}})
    facts = {
        "whole_words": {"tokens": tokens, "most": 1, "segmentation": "bpe_9"},
        "short_words": {"tokens": tokens, "most": 2, "segmentation": "bpe_9"},
        "dropped": {"report": str(tmp_path / "train.json"), "filter": "langdetect"},
        "unknown": {"reason": "it is not computed here"},
    }
    content = content_of(tmp_path, facts, {"whole_words": 0.92, "short_words": 0.9, "dropped": 19.0, "unknown": 1.0})
    assert shown(content.blocks[0]) == [
        ["whole words", "d", "bpe_9", "0.92", "0.5000"],
        ["short words", "d", "bpe_9", "0.9", "0.7500"],
        ["dropped", "d", "", "19", "12"],
        ["unknown", "d", "", "1", "(it is not computed here)"],
    ]
    assert shown(content.blocks[1]) == [["d", "bpe_9", "4", "7", "1.750", "3"]]
    assert unlinked(content.blocks) == []
    assert content.data["words_by_subwords"] == {tokens: [0, 2, 1, 1]}


def test_a_report_without_the_filter_is_refused(tmp_path):
    write_json(tmp_path / "train.json", {"dropped": {"length": 3}})
    facts = {"dropped": {"report": str(tmp_path / "train.json"), "filter": "langdetect"}}
    with pytest.raises(UserError, match=r"train.json does not count the pairs that langdetect drops"):
        content_of(tmp_path, facts, {"dropped": 19.0})


def test_without_words_there_is_no_table_of_them(tmp_path):
    content = content_of(tmp_path, {"unknown": {"reason": "it is not computed here"}}, {"unknown": 1.0})
    assert len([block for block in content.blocks if isinstance(block, Table)]) == 1


def test_no_words_have_no_share():
    assert share_of_words([0], 1) is None
