"""The published numbers: each reaches one cell, fact or claim, and what they name exists."""

import re
from pathlib import Path

import pytest
import yaml
from published_claims import paper_claims, trained

from nmtcore.config.project import Project
from nmtcore.errors import UserError
from nmtcore.tables.papers import paper_files, read_paper

CONFIG = Path(__file__).resolve().parents[2] / "config"
PROJECT = Project.load(CONFIG)
PAPERS = {name: read_paper(PROJECT, name) for name in sorted(paper_files(PROJECT))}
NUMBERS = {"aycock2021": 71, "bugliarello2020": 203, "pham2018": 110, "tran2018": 179}
"""Numbers in cells and facts of each paper."""
CLAIMS = {"aycock2021": 25, "bugliarello2020": 78, "pham2018": 52, "tran2018": 60}


def numbers_of(table):
    """Read the numbers of a table of the file by their position in the row, independently of the code."""
    read = {}
    for row, values in {**table.get("rows", {}), **table.get("rows_from_elsewhere", {})}.items():
        for column, value in zip(table["columns"], values, strict=True):
            prefix, _, metrics = column.rpartition("/")
            pair = value if isinstance(value, list) else [value]
            for metric, number in zip(metrics.split("+"), pair, strict=False):
                if number is not None:
                    read[row, f"{prefix}/{metric}".strip("/")] = number
    return read


def test_every_number_is_a_cell_at_its_place_or_a_fact():
    counts = dict.fromkeys(PAPERS, 0)
    for name, paper in PAPERS.items():
        raw = yaml.safe_load((CONFIG / f"published/{name}.yaml").read_text(encoding="utf-8"))["tables"]
        assert set(raw) == set(paper.tables)
        for table_name, table in paper.tables.items():
            cells = {(cell.row, cell.column): cell.published for cell in table.cells if cell.published is not None}
            assert cells == numbers_of(raw[table_name]), (name, table_name)
            settings = paper.settings.tables[table_name]
            assert settings.facts == raw[table_name].get("facts", {})
            assert table.facts == table.facts | settings.facts
            counts[name] += len(cells) + len(settings.facts)
            stated = [claim.difference for claim in settings.claims]
            assert stated == [claim.get("difference") for claim in raw[table_name].get("claims", [])]
    print(f"{sum(counts.values())} published numbers: {counts}")
    assert counts == NUMBERS


def test_cells_say_what_they_measure():
    paper = PAPERS["bugliarello2020"]
    cell = paper.tables["table_3"].cell("pascal", "nc11_en2de/test/bleu")
    assert (cell.system, cell.dataset, cell.split, cell.metric) == ("pascal", "nc11_en2de_filtered", "test", "bleu")
    assert (cell.published, cell.marks) == (25.9, "D")
    filtered = paper.tables["table_5"].cell("transformer_base@filtered", "wmt16_en2de/dev/bleu")
    assert (filtered.system, filtered.dataset) == ("transformer_base", "wmt16_en2de_filtered")
    quoted = paper.tables["table_3"].cell("Bastings et al. (2017)", "nc11_en2de/test/bleu")
    assert (quoted.system, quoted.elsewhere, quoted.published) == (quoted.row, True, 16.1)
    trees = PAPERS["tran2018"].tables["table_3"]
    assert trees.cell("left", "wmt17dev15_en2de/gold_ud_english/undirected").published == 40.5
    assert trees.cell("left", "wmt17_en2ru/gold_ud_english/undirected").published is None
    share = PAPERS["tran2018"].tables["table_4"].cell("VERB_NOUN", "wmt17_en2ru/gold_ud_english/sa_nmt_shared")
    assert (share.item, share.system, share.metric, share.published) == ("VERB_NOUN", "sa_nmt_shared", "share", 7.5)
    digits = (
        {column.name: column.digits for column in table.columns}
        for table in (PAPERS["pham2018"].tables["table_6_1"], paper.tables["table_3"])
    )
    assert [next(digits)["cs2en/test/bleu"], next(digits)["nc11_en2de/test/bleu"]] == [2, 1]
    assert PAPERS["aycock2021"].tables["table_b_1"].place == "Table B.1"


def test_what_is_no_system_of_the_project_has_a_reason():
    for paper in PAPERS.values():
        assert set(paper.systems) <= set(PROJECT.system_entries)
        assert not set(paper.settings.others) & set(PROJECT.system_entries)
        assert all(paper.settings.others.values())


@pytest.mark.parametrize("name", PAPERS)
def test_claims_agree_with_the_numbers(name):
    claims = paper_claims(PAPERS[name])
    assert len(claims) == CLAIMS[name]
    marks = sum(len(cell.marks) for table in PAPERS[name].tables.values() for cell in table.cells)
    assert sum(claim.level is not None for claim in claims) == marks
    for claim in claims:
        assert (claim.level is None) == bool(claim.says)
        assert claim.system.metric
        assert claim.system.tested in PROJECT.dataset_files
        system, baseline, *controls = trained(claim.system, claim.baseline, *(cell for cell, _ in claim.controls))
        assert system != baseline
        assert baseline not in controls
        if claim.difference is not None and claim.direction != "no_gain":
            assert (claim.difference > 0) == (claim.direction == "gain"), claim
        elif claim.difference is not None:
            assert claim.difference < claim.margin, claim


def test_claims_have_baselines_differences_and_controls():
    table = [claim for claim in paper_claims(PAPERS["tran2018"]) if claim.place == "Table 2" and claim.level]
    first, second = table[:2]
    assert trained(first.system, first.baseline) == [
        ("sa_nmt_shared", "wmt17dev15_de2en"), ("nmt", "wmt17dev15_de2en")
    ]  # fmt: skip
    assert (first.difference, first.level, first.system.split) == (0.57, 0.01, "test_wmt16")
    assert (second.baseline.system, second.difference, second.level) == ("fa_nmt_separate", 0.49, 0.05)
    assert [control.system for control, _ in first.controls] == ["fa_nmt_shared"]
    pascal = next(claim for claim in paper_claims(PAPERS["bugliarello2020"]) if claim.level)
    assert trained(pascal.baseline, pascal.controls[0][0]) == [
        ("transformer_base", "nc11_en2de"), ("transformer_base", "nc11_en2de_filtered")
    ]  # fmt: skip
    long = [claim for claim in paper_claims(PAPERS["bugliarello2020"]) if claim.system.item]
    assert [claim.difference for claim in long] == [2, 2, 2, 3.5]
    controls = {
        (claim.system.system, claim.baseline.system, claim.system.tested): [own.system for own, _ in claim.controls]
        for claim in [*paper_claims(PAPERS["bugliarello2020"]), *paper_claims(PAPERS["pham2018"])]
    }
    assert controls["sisa", "transformer_base", "wat_en2ja"] == [], "the sentence names none in place of the paper's"
    assert controls["relative_tree_traversal", "transformer_base", "cs2en"] == ["transformer_relative"]
    assert controls["relative_tree_traversal", "transformer_relative", "cs2en"] == []
    questions = [claim for claim in paper_claims(PAPERS["aycock2021"]) if claim.system.item == "question"]
    assert [claim.difference for claim in questions] == [1.44]
    assert {claim.system.system for claim in questions} == {"tag_attention"}
    parsers = [claim for claim in paper_claims(PAPERS["pham2018"]) if claim.baseline.elsewhere]
    assert [(claim.baseline.system, claim.direction, claim.difference) for claim in parsers] == [
        ("UDPipe 1.2", "gain", 6.96), ("Nakagawa (2007)", "loss", -3.75),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("paper", "system", "baseline", "differences"),
    [
        ("tran2018", "sa_nmt_shared", "sa_nmt_1set", [0.22, 0.30, 0.07, 0.14, 0.09]),
        ("tran2018", "fa_nmt_shared", "fa_nmt_separate", [0.31, 0.43, 0.11, 0.06, 0.16]),
        ("tran2018", "sa_nmt_hard", "sa_nmt_1set", [-0.13, -0.19, -0.36, -0.36, -0.28, -0.25]),
        ("tran2018", "sa_nmt_hard", "sa_nmt_separate", [-0.23, -0.17, -0.24, -0.10, -0.30]),
        ("pham2018", "diagonalparse_l0", "diagonalparse_l5", [0.60]),
        ("pham2018", "diagonalparse_l4", "diagonalparse_l3", [-0.23]),
        ("pham2018", "tree_traversal", "tree_distance_5", [2.67]),
        ("pham2018", "relative_tree_traversal", "relative_tree_distance_20", [0.25]),
        ("aycock2021", "tag_attention_dg_a", "tag_attention_dg_b", [None]),
    ],
)
def test_claims_between_variants_have_the_published_differences(paper, system, baseline, differences):
    claims = [
        claim for claim in paper_claims(PAPERS[paper])
        if (claim.system.system, claim.baseline.system, claim.system.metric) == (system, baseline, "bleu")
    ]  # fmt: skip
    assert [claim.difference for claim in claims] == differences


def test_a_claim_about_the_target_language_compares_systems_with_themselves():
    says = "With Russian as the target language instead of German, induced trees of English are better"
    claims = [claim for claim in paper_claims(PAPERS["tran2018"]) if claim.says == says]
    place = ("wmt17_en2ru", "wmt17dev15_en2de", "gold_ud_english")
    assert {(claim.system.dataset, claim.baseline.dataset, claim.system.split) for claim in claims} == {place}
    assert [claim.difference for claim in claims] == [18.2, 23.3, 8.9, 7.5, 5.3, 6.3]
    assert [claim.system.metric for claim in claims] == ["directed", "undirected"] * 3
    assert all(claim.baseline.system == claim.system.system and not claim.controls for claim in claims)


TABLE = """
title: Mine
tables:
  table_1:
    baselines: [transformer_base]
    columns: [demo_en2de/test/bleu]
    rows: {transformer_base: [1.0], depparse_l1: [2]}
"""
BLEU = "demo_en2de/test/bleu"


def claim(keys):
    """Give the table a claim."""
    return f"    claims: [{{says: So, {keys}}}]\n"


def files_of(text):
    """The files of a paper whose table shows numbers."""
    shown = {"tables": {"table_1": {"kind": "scores"}}}
    return {"published/mine": yaml.safe_load(text), "tables/mine": shown}


def own_paper(make_project, text):
    return read_paper(make_project(files=files_of(text)), "mine")


TWO_DATASETS = TABLE.replace("[demo_en2de/test/bleu]", "[demo_en2de/test/bleu, demo_de2en/test/bleu]").replace(
    "{transformer_base: [1.0], depparse_l1: [2]}",
    "{transformer_base: [1.0, 5.0], depparse_l1: [2, 7.5], depparse_l2: [2.5, null]}",
)


@pytest.mark.parametrize(
    ("baselines", "system", "difference"),
    [("", "depparse_l1", 5.5), ("baselines: [transformer_base], ", "transformer_base", 6.5)],
)
def test_claims_about_two_data_sets(make_project, baselines, system, difference):
    text = claim(f"systems: [depparse_l1], {baselines}columns: [demo_de2en/test/bleu], baseline_columns: [{BLEU}]")
    (read,) = paper_claims(own_paper(make_project, f"{TWO_DATASETS}{text}"))
    assert trained(read.system, read.baseline) == [("depparse_l1", "demo_de2en"), (system, "demo_en2de")]
    assert read.difference == difference


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[1.0]", "[1.0, 2.0]", "mine.yaml: tables.table_1: transformer_base: 2 values for 1 columns"),
        ("[1.0]", "[[1.0, 2.0]]", "transformer_base: 2 numbers for the 1 metrics of demo_en2de/test/bleu"),
        ("[1.0]", "[many]", "many"),
        ("depparse_l1", "deparse_l1", "unknown system 'deparse_l1'. Did you mean depparse_l1"),
        ("demo_en2de", "demo_en2d", "unknown data set 'demo_en2d'. Did you mean demo_en2de"),
        ("/test/", "/tests/", "unknown split 'tests'. Did you mean test"),
        ("demo_en2de/test/bleu", "demo_en2de/bleu", "does not have the form dataset/split/metric"),
        ("baselines: [transformer_base]", "baselines: [nmt]", "unknown row 'nmt'"),
        ("columns:", "marks: {demo_en2de/test/bleu: {depparse_l1: x}}\n    columns:", "unknown mark 'x'"),
        ("columns:", "marks: {demo_en2de/test/bleu: {depparse_l1: v}}\n    columns:", "no baseline for the mark v"),
        ("columns:", "marks: {demo_en2de/test/chrf: {depparse_l1: d}}\n    columns:", "unknown column"),
        ("columns:", "column: dataset/splt/metric\n    columns:", "unknown axis 'splt'. Did you mean split"),
        ("columns:", "split: test\n    columns:", "must name different things"),
        ("title: Mine", "titel: Mine", "unknown key 'titel'"),
    ],
)
def test_mistakes_are_sentences(make_project, old, new, message):
    assert TABLE.count(old)
    with pytest.raises(UserError, match=re.escape(message)):
        own_paper(make_project, TABLE.replace(old, new, 1))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("systems: [nmt]", "unknown row 'nmt'"),
        ("systems: [depparse_l1], difference: big", "unknown fact"),
        ("systems: [depparse_l1], controls: [deparse_l1]", "unknown system 'deparse_l1'. Did you mean depparse_l1"),
        ("systems: []", "lacks a system"),
        ("systems: [depparse_l1], margin: 2", "claims[0]: margin concerns the direction no_gain only, not gain"),
        (f"systems: [depparse_l1], baseline_columns: [{BLEU}]", "1 baseline_columns for 0 columns"),
        (f"systems: [depparse_l1], columns: [{BLEU}], baseline_columns: [{BLEU}]", "of another data set"),
    ],
)
def test_mistakes_in_claims_are_sentences(make_project, keys, message):
    with pytest.raises(UserError, match=re.escape(message)):
        own_paper(make_project, f"{TABLE}{claim(keys)}")


@pytest.mark.parametrize(("key", "margin"), [("", 1), (", margin: 0.5", 0.5)])
def test_a_claim_of_no_gain_has_a_margin(make_project, key, margin):
    text = claim(f"systems: [depparse_l1], direction: no_gain{key}")
    (read,) = paper_claims(own_paper(make_project, f"{TABLE}{text}"))
    assert read.margin == margin


def test_papers_can_be_added(make_project):
    own = make_project(files=files_of(TABLE))
    assert sorted(paper_files(own)) == sorted([*PAPERS, "mine"])
    assert read_paper(own, "mine").tables["table_1"].cell("depparse_l1", "demo_en2de/test/bleu").published == 2
    with pytest.raises(UserError, match=r"unknown paper 'pham2019'\. Did you mean pham2018"):
        read_paper(own, "pham2019")
