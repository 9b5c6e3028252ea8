"""The published numbers: each reaches one cell, fact or claim, and what they name exists; and tables of one's own."""

import re
from functools import cache
from math import prod
from pathlib import Path

import pytest
import yaml
from published_claims import paper_claims, trained

from nmtcore.config.project import Project
from nmtcore.errors import UserError
from nmtcore.tables.papers import paper_files, read_paper
from nmtcore.tables.plan import planned_table

CONFIG = Path(__file__).resolve().parents[2] / "config"
PROJECT = Project.load(CONFIG)
PUBLISHED = sorted(path.stem for path in CONFIG.glob("published/*.yaml"))
PAPERS = {name: read_paper(PROJECT, name) for name in PUBLISHED}
NUMBERS = {"aycock2021": 71, "bugliarello2020": 203, "pham2018": 110, "tran2018": 179}
"""Numbers in cells and facts of each paper."""
CLAIMS = {"aycock2021": 45, "bugliarello2020": 135, "pham2018": 108, "tran2018": 141}
OWN_TABLES = {
    "aycock2021": ("future_work", "source_supertags", "combinations", "combinations_into_turkish"),
    "bugliarello2020": ("future_work",),
    "pham2018": ("variants",),
    "tran2018": ("variants",),
}
"""Tables of systems that no paper has, or has no number of."""


@cache
def raw_tables(name):
    return yaml.safe_load((CONFIG / f"published/{name}.yaml").read_text(encoding="utf-8"))["tables"]


def numbers_of(table):
    """Read the numbers and marks of a table of the file by their position in the row, independently of the code."""
    read = {}
    for row, values in {**table.get("rows", {}), **table.get("rows_from_elsewhere", {})}.items():
        for column, value in zip(table["columns"], values, strict=True):
            prefix, _, metrics = column.rpartition("/")
            pair = value if isinstance(value, list) else [value]
            for metric, number in zip(metrics.split("+"), pair, strict=False):
                if number is not None:
                    name = f"{prefix}/{metric}".strip("/")
                    read[row, name] = number, table.get("marks", {}).get(name, {}).get(row, "")
    return read


def test_every_number_is_a_planned_cell_at_its_place_or_a_fact():
    counts = dict.fromkeys(PAPERS, 0)
    for name, paper in PAPERS.items():
        assert set(raw_tables(name)) == set(paper.tables) - set(OWN_TABLES.get(name, ()))
        for table_name, values in raw_tables(name).items():
            table = planned_table(PROJECT, f"{name}_{table_name}")
            cells = {(cell.row, cell.column): (cell.published, cell.marks) for cell in table.cells}
            assert {key: value for key, value in cells.items() if value[0] is not None} == numbers_of(values)
            assert table.facts.items() >= values.get("facts", {}).items()
            added = [row.name for row in paper.tables[table_name].rows if row.added]
            assert added == [
                row for row in paper.settings.tables[table_name].added if row not in values.get("rows", {})
            ]
            counts[name] += len(numbers_of(values)) + len(values.get("facts", {}))
            stated = [claim.difference for claim in paper.settings.tables[table_name].claims]
            assert stated == [claim.get("difference") for claim in values.get("claims", [])]
    print(f"{sum(counts.values())} published numbers: {counts}")
    assert counts == NUMBERS


def test_every_system_stands_in_a_table():
    papers = [read_paper(PROJECT, name) for name in paper_files(PROJECT)]
    shown = {cell.system for paper in papers for table in paper.tables.values() for cell in table.cells}
    assert PROJECT.system_entries.keys() - shown == set()


def test_cells_say_what_they_measure():
    paper = PAPERS["bugliarello2020"]
    cell = paper.tables["table_3"].cell("pascal", "nc11_en2de/test/bleu")
    assert (cell.system, cell.dataset, cell.split, cell.metric) == ("pascal", "nc11_en2de_filtered", "test", "bleu")
    filtered = paper.tables["table_5"].cell("transformer_base@filtered", "wmt16_en2de/dev/bleu")
    assert (filtered.system, filtered.dataset) == ("transformer_base", "wmt16_en2de_filtered")
    quoted = paper.tables["table_3"].cell("Bastings et al. (2017)", "nc11_en2de/test/bleu")
    assert (quoted.system, quoted.elsewhere, quoted.published) == (quoted.row, True, 16.1)
    share = PAPERS["tran2018"].tables["table_4"].cell("VERB_NOUN", "wmt17_en2ru/gold_ud_english/sa_nmt_shared")
    assert (share.item, share.system, share.metric, share.published) == ("VERB_NOUN", "sa_nmt_shared", "share", 7.5)
    tables = (PAPERS["pham2018"].tables["table_6_1"], paper.tables["table_3"])
    digits = [{column.name: column.digits for column in table.columns} for table in tables]
    assert (digits[0]["cs2en/test/bleu"], digits[1]["nc11_en2de/test/bleu"]) == (2, 1)
    assert PAPERS["aycock2021"].tables["table_b_1"].place == "Table B.1"


@pytest.mark.parametrize("name", PAPERS)
def test_claims_agree_with_the_numbers(name):
    claims = paper_claims(PAPERS[name])
    assert len(claims) == CLAIMS[name]
    marks = sum(len(cell.marks) for table in PAPERS[name].tables.values() for cell in table.cells)
    assert sum(claim.level is not None for claim in claims) == marks
    for table in PAPERS[name].tables.values():
        read = raw_tables(name).get(table.name, {})
        numbers = numbers_of(read)
        stated = {own.get("says") for own in read.get("claims", []) if "difference" in own}
        for claim in table.claims:
            terms = claim.terms or ((1, claim.system), (-1, claim.baseline))
            weighted = [(weight, numbers.get((cell.row, cell.column), (None,))[0]) for weight, cell in terms]
            if claim.says not in stated and claim.system.item is None:
                difference = None if any(number is None for _, number in weighted) else sum(map(prod, weighted))
                assert claim.difference == (difference if difference is None else pytest.approx(difference, abs=1e-9))
    for claim in claims:
        assert (claim.level is None) == bool(claim.says)
        assert claim.system.metric
        assert claim.system.tested in PROJECT.dataset_files
        system, baseline, *controls = trained(claim.system, claim.baseline, *(cell for cell, _ in claim.controls))
        differ = system != baseline or _measured(claim.system) != _measured(claim.baseline)
        assert differ or claim.compares == "correlation"
        assert baseline not in controls
        if (published_difference := claim.difference) is not None:
            assert {
                "gain": published_difference > 0,
                "loss": published_difference < 0,
                "no_gain": published_difference < claim.margin,
                "none": abs(published_difference) < claim.margin,
            }[claim.direction], claim


def _measured(cell):
    return cell.item, cell.metric


def test_claims_have_baselines_and_controls():
    claims = {name: paper_claims(paper) for name, paper in PAPERS.items()}
    first, second = [claim for claim in claims["tran2018"] if claim.place == "Table 2" and claim.level][:2]
    german = "wmt17dev15_de2en"
    assert trained(first.system, first.baseline) == [("sa_nmt_shared", german), ("nmt", german)]
    assert (first.difference, first.level, first.system.split) == (0.57, 0.01, "test_wmt16")
    assert (second.baseline.system, second.difference, second.level) == ("fa_nmt_separate", 0.49, 0.05)
    pascal = next(claim for claim in claims["bugliarello2020"] if claim.level)
    assert trained(pascal.baseline, pascal.controls[0][0]) == [
        ("transformer_base", "nc11_en2de"), ("transformer_base", "nc11_en2de_filtered")
    ]  # fmt: skip
    controls = {
        (claim.system.system, claim.baseline.system, claim.system.tested): [own.system for own, _ in claim.controls]
        for own in claims.values() for claim in own if claim.compares == "difference" and claim.place != "Figure 6.4"
    }  # fmt: skip
    assert controls["sa_nmt_shared", "nmt", german] == ["fa_nmt_shared"]
    assert controls["sisa", "transformer_base", "wat_en2ja"] == [], "the sentence names none in place of the paper's"
    assert controls["relative_tree_traversal", "transformer_base", "cs2en"] == ["transformer_relative"]
    assert controls["relative_tree_traversal", "transformer_relative", "cs2en"] == []
    parts = [own for name in ("bugliarello2020", "aycock2021") for own in claims[name] if own.system.item]
    assert [own.difference for own in parts if own.difference] == [2, 2, 2, 3.5, 1.44, 1.0, 0.1]
    others = {(own.system.item, own.terms[2][1].item) for own in parts if own.compares == "gains"}
    assert others == {(name, f"all but {name}") for name in ("long sentences", "question", "conjunction")}
    parsers = [claim for claim in claims["pham2018"] if claim.baseline.elsewhere]
    assert [(own.baseline.system, own.direction) for own in parsers] == [
        ("UDPipe 1.2", "gain"), ("Nakagawa (2007)", "loss"),
    ]  # fmt: skip
    says = "With Russian as the target language instead of German, induced trees of English are better"
    most = "Pascal's heads are the component that improves translation most"
    components = [own for own in claims["bugliarello2020"] if own.says == most]
    assert [own.difference for own in components] == pytest.approx([0.4, 0.8, 0.9])
    filtered = [(weight, f"{cell.system} on {cell.dataset}") for weight, cell in components[0].terms]
    before, unfiltered = (f"transformer_base on nc11_de2en{name}" for name in ("_filtered", ""))
    assert filtered[1:] == [(-1, before), (-1, before), (1, unfiltered)]
    itself = [claim for claim in claims["tran2018"] if claim.says == says]
    russian, german = "wmt17_en2ru", "wmt17dev15_en2de"
    assert [trained(own.system, own.baseline) for own in itself[::2]] == [
        [(name, russian), (name, german)] for name in ("fa_nmt_separate", "fa_nmt_shared", "sa_nmt_shared")
    ]
    assert not any(own.controls for own in itself)


BLEU, OTHER, CHRF = "demo_en2de/test/bleu", "demo_de2en/test/bleu", "demo_en2de/test/chrf"
TABLE = {
    "baselines": ["transformer_base"],
    "columns": [BLEU],
    "rows": {"transformer_base": [1.0], "depparse_l1": [2]},
}
OWN = {"kind": "scores", **TABLE, "rows": [*TABLE["rows"]]}


def published(make_project, table):
    """Read a paper whose published table shows numbers."""
    files = {
        "published/mine": {"title": "Mine", "tables": {"table_1": table}},
        "tables/mine": {"tables": {"table_1": {"kind": "scores"}}},
    }
    return read_paper(make_project(files=files), "mine")


def own(make_project, table, **more):
    """Read a paper of the user's own."""
    return read_paper(make_project(files={"tables/mine": {"tables": {"headline": table}, **more}}), "mine")


@pytest.mark.parametrize(
    ("baselines", "system", "difference"),
    [({}, "depparse_l1", 5.5), ({"baselines": ["transformer_base"]}, "transformer_base", 6.5)],
)
def test_claims_about_two_data_sets(make_project, baselines, system, difference):
    rows = {"transformer_base": [1.0, 5.0], "depparse_l1": [2, 7.5], "depparse_l2": [2.5, None]}
    says = {"says": "So", "systems": ["depparse_l1"], "columns": [OTHER], "baseline_columns": [BLEU], **baselines}
    (read,) = paper_claims(published(make_project, TABLE | {"columns": [BLEU, OTHER], "rows": rows, "claims": [says]}))
    assert trained(read.system, read.baseline) == [("depparse_l1", "demo_de2en"), (system, "demo_en2de")]
    assert read.difference == difference


@pytest.mark.parametrize(
    ("keys", "margin", "difference"), [({}, 1, 1), ({"margin": 0.5, "difference": "small"}, 0.5, 0.2)]
)
def test_a_claim_of_no_gain_has_a_margin_and_may_state_its_difference(make_project, keys, margin, difference):
    says = {"says": "So", "systems": ["depparse_l1"], "direction": "no_gain", **keys}
    (read,) = paper_claims(published(make_project, TABLE | {"claims": [says], "facts": {"small": 0.2}}))
    assert (read.margin, read.difference) == (margin, difference)


def test_numbers_of_others_stand_in_a_table_of_ones_own(make_project):
    rows = {"rows": TABLE["rows"], "rows_from_elsewhere": {"Doe (2020)": [3.5]}, "baselines": []}
    table = own(make_project, OWN | rows, title="My study").tables["headline"]
    assert [cell.published for cell in table.cells if cell.column == BLEU] == [1, 2, 3.5]
    assert table.compared_with == {"depparse_l1": "transformer_base"}, "what its entry says"


CLAIM = {"says": "So", "systems": ["depparse_l1"]}


def claimed(**keys):
    return {"claims": [CLAIM | keys]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": {"nmt": [1.0, 2.0]}, "baselines": []}, "mine.yaml: tables.table_1: nmt: 2 values for 1 columns"),
        ({"rows": {"transformer_base": [[1.0, 2.0]]}}, f"transformer_base: 2 numbers for the 1 metrics of {BLEU}"),
        ({"rows": {"deparse_l1": [2]}, "baselines": []}, "unknown system 'deparse_l1'. Did you mean depparse_l1"),
        ({"rows_from_elsewhere": {"depparse_l1": [2]}}, "depparse_l1: in rows and in rows_from_elsewhere."),
        ({"columns": ["demo_en2d/test/bleu"]}, "unknown data set 'demo_en2d'. Did you mean demo_en2de"),
        ({"columns": ["demo_en2de/tests/bleu"]}, "demo_en2de: unknown split 'tests'. Did you mean test"),
        ({"columns": ["demo_en2de/bleu"]}, "'demo_en2de/bleu' does not have the form dataset/split/metric"),
        ({"baselines": ["nmt"]}, "table_1: baselines: unknown row 'nmt'. Valid are: depparse_l1, transformer_base."),
        ({"trained_on": {"depparse_l1": {"demo_en2de": "demo"}}}, "unknown data set 'demo'"),
        ({"marks": {BLEU: {"depparse_l1": "v"}}}, f"marks: {BLEU}: unknown mark for which there is a baseline 'v'"),
        ({"column": "dataset/splt/metric"}, "unknown axis 'splt'. Did you mean split"),
        ({"split": "test"}, "must name different things"),
        (claimed(systems=["nmt"]), "claims: unknown row 'nmt'"),
        (claimed(difference="big"), "claims: unknown fact 'big'"),
        (claimed(controls=["deparse_l1"]), "table_1: unknown system 'deparse_l1'. Did you mean depparse_l1"),
        (claimed(systems=[]), "claims: 'So' lacks a system"),
        (claimed(margin=2), "claims[0]: margin concerns the directions no_gain and none only, not gain"),
        (claimed(baseline_columns=[BLEU]), "'So': `baseline_columns` must be, for each of `columns`, another column"),
        (claimed(columns=[BLEU], baseline_columns=[BLEU]), "must be, for each of `columns`, another column"),
        (
            claimed(columns=[BLEU], baseline_columns=[CHRF])
            | {"columns": [BLEU, CHRF], "rows": {"depparse_l1": [2, 3]}, "baselines": []},
            "of the same split and, of scores of sentences, of the same metric",
        ),
        (claimed(items=["question"]), "'So': `items` need rows or columns that name an item."),
    ],
)
def test_mistakes_are_sentences(make_project, tmp_path, change, message):
    with pytest.raises(UserError, match=re.escape(message)) as error:
        published(make_project, TABLE | change)
    assert str(error.value).startswith(str(tmp_path / "config/published/mine.yaml"))


@pytest.mark.parametrize(
    ("change", "more", "message"),
    [
        ({"columns": ["demo_en2de/test/bleuu"]}, {}, "columns: unknown metric 'bleuu'. Did you"),
        ({"columns": []}, {}, "tables.headline: name the `columns` that the rows have, DATASET/SPLIT/METRIC."),
        (
            {"rows": ["transformer_bas"]},
            {},
            "rows or added: unknown system 'transformer_bas'. Did you mean transformer_base",
        ),
        ({"labels": {"depparse_l2": "x"}}, {}, "labels: unknown row, data set or test 'depparse_l2'. Did you mean dep"),
        ({}, {"seeds": {"pascal": [1]}}, "seeds: unknown system of its tables 'pascal'"),
        ({}, {"seeds": {"transformer_base": []}}, "seeds.transformer_base must be a list of different numbers"),
        ({}, {"controls": {"nmtt": []}}, "controls: unknown system 'nmtt'"),
        ({}, {"tables": {"Table-1": OWN}}, "tables: 'Table-1': a name has small letters, digits and single underscore"),
        ({}, {"measures": {"bleu": "multi-bleu"}}, "measures: unknown measure 'multi-bleu'. Did you mean multi_b"),
    ],
)
def test_mistakes_in_a_file_of_ones_own_are_sentences(make_project, tmp_path, change, more, message):
    with pytest.raises(UserError, match=re.escape(message)) as error:
        own(make_project, OWN | change, **more)
    assert str(error.value).startswith(str(tmp_path / "config/tables/mine.yaml"))


def test_rows_of_a_published_table_are_not_given_twice(make_project):
    tables = {table: {"kind": "scores"} for table in PAPERS["pham2018"].tables}
    tables["table_6_1"]["rows"] = ["nmt"]
    for values, message in (
        (tables, "table_6_1: the published table has rows and columns: leave them out here."),
        ({}, "tables lacks"),
    ):
        with pytest.raises(UserError, match=message):
            read_paper(make_project(files={"tables/pham2018": {"tables": values}}), "pham2018")


def test_papers_can_be_added(make_project):
    published(make_project, TABLE)
    project = make_project()
    assert sorted(paper_files(project)) == sorted([*PAPERS, "factors", "mine", "strong_base"])
    with pytest.raises(UserError, match=r"unknown paper 'pham2019'\. Did you mean pham2018"):
        read_paper(project, "pham2019")
