"""A table may be written again and may grow, but another configuration never overwrites it."""

from pathlib import Path

import pytest

from nmtcore.config.project import Project
from nmtcore.errors import UserError
from nmtcore.files import write_json
from nmtcore.planning.targets import check_target

TWO = {"scale": "smoke", "seeds": [1], "datasets": ["demo_en2de"], "systems": ["transformer_base", "depparse_l1"]}


@pytest.fixture
def check(root: Path, tmp_path: Path, monkeypatch):
    """Check a target below results/tables under a configuration."""
    monkeypatch.chdir(tmp_path)

    def check(table, **changes):
        target = table if table.startswith("figures/") else f"tables/{table}"
        check_target(Project([root / "config"], TWO | changes), f"results/{target}")

    return check


def rows(*systems, seeds=(1,)):
    return [{"scale": "smoke", "dataset": "demo_en2de", "system": system, "seeds": list(seeds)} for system in systems]


def refusal(check, table, **changes):
    with pytest.raises(UserError) as error:
        check(table, **changes)
    return str(error.value)


def test_a_table_of_systems_is_written_again_and_grows(check):
    check("systems.md")
    write_json("results/tables/systems.json", rows("transformer_base"))
    check("systems.md")
    check("systems.json", seeds=[2, 1])
    check("systems.md", systems=["*"])


@pytest.mark.parametrize(
    "changes", [{"scale": "demo"}, {"datasets": ["demo_de2en"]}, {"systems": ["depparse_l1"]}, {"seeds": [2]}]
)
def test_a_table_of_other_runs_is_not_replaced(check, changes):
    write_json("results/tables/systems.json", rows("depparse_l1", "transformer_base"))
    message = refusal(check, "systems.md", **changes)
    assert message.startswith("results/tables/systems.md holds smoke/demo_en2de/")
    assert "smoke/demo_en2de/transformer_base/seed1, which this configuration does not select" in message
    assert message.endswith(
        "results/tables/NAME/systems.md, or delete this one together with results/tables/systems.json."
    )
    check("mine/systems.md", **changes)
    write_json("results/tables/mine/systems.json", rows("depparse_l1", "transformer_base"))
    assert "results/tables/mine/systems.md holds" in refusal(check, "mine/systems.md", **changes)


@pytest.mark.parametrize("table", ["gates", "heads", "constructions", "tags"])
def test_a_table_of_runs_of_other_systems_is_not_replaced(check, table):
    write_json(f"results/tables/{table}.json", rows("transformer_base"))
    check(f"{table}.md")
    assert f"results/tables/{table}.md holds smoke/demo_en2de/transformer_base/seed1, which" in refusal(
        check, f"{table}.md", systems=["depparse_l1"]
    )


def test_a_table_of_examples_loses_neither_system_nor_baseline(check):
    content = [{**rows("depparse_l1")[0], "baseline": "transformer_base"}]
    write_json("results/tables/examples.json", content)
    check("examples.md")
    check("examples.md", systems=["*"], seeds=[1, 2])
    message = refusal(check, "examples.md", systems=["depparse_l1", "pascal"])
    assert "examples.md holds smoke/demo_en2de/transformer_base/seed1, which" in message
    content.append({**rows("depparse_gold")[0], "seeds": [], "baseline": "transformer_base"})
    write_json("results/tables/examples.json", content)
    check("examples.md")


def test_figures_are_not_replaced_either(check):
    for figure in ("curves.svg", "constructions.svg", "mine/curves.svg", "curves.json"):
        check(f"figures/{figure}")
    write_json("results/figures/curves.json", rows("depparse_l1"))
    write_json("results/tables/constructions.json", rows("depparse_l1"))
    check("figures/curves.svg")
    for figure, json in (("curves", "figures/curves"), ("constructions", "tables/constructions")):
        message = refusal(check, f"figures/{figure}.svg", systems=["transformer_base"])
        assert message == (
            f"results/figures/{figure}.svg holds smoke/demo_en2de/depparse_l1/seed1, which this configuration does not "
            f"select and would remove. Give the new figure a name of its own, results/figures/NAME/{figure}.svg, or "
            f"delete this one together with results/{json}.json."
        )
    assert "unknown figure 'curve'. Did you mean curves?" in refusal(check, "figures/curve.svg")
    assert "unknown figure 'systems'" in refusal(check, "figures/systems.svg")
    assert "a figure is figures/curves.svg or figures/NAME/curves.svg" in refusal(check, "figures/a/b/curves.svg")


def test_a_table_whose_kind_draws_no_figure_has_none(check):
    assert refusal(check, "figures/pham2018_table_6_1.svg") == (
        "results/figures/pham2018_table_6_1.svg: pham2018_table_6_1 is a table of scores, of which no figure is drawn: "
        "ask for results/tables/pham2018_table_6_1.md."
    )
    assert "ask for results/tables/mine/pham2018_table_6_1.md." in refusal(check, "figures/mine/pham2018_table_6_1.svg")
    check("pham2018_table_6_1.md")
    check("figures/pham2018_figure_6_4.svg")


def test_a_table_of_productions_loses_neither_treebanks_nor_runs(check):
    content = [{**rows("depparse_l1")[0], "seeds": [], "system": None}, *rows("depparse_l1")]
    write_json("results/tables/productions.json", content)
    check("productions.md")
    runs = refusal(check, "productions.md", systems=["transformer_base"])
    assert "productions.md holds smoke/demo_en2de/depparse_l1/seed1, which" in runs
    assert "holds demo_en2de, smoke/demo_en2de/" in refusal(check, "productions.md", datasets=["demo_de2en"])


@pytest.mark.parametrize(
    ("table", "content"),
    [
        ("data", {"demo_en2de": {"splits": {}}}),
        ("annotation", {"annotations": [{"dataset": "demo_en2de"}], "vocabularies": []}),
        ("parsers", [{"dataset": "demo_en2de"}]),
    ],
)
def test_a_table_of_other_data_sets_is_not_replaced(check, table, content):
    write_json(f"results/tables/{table}.json", content)
    check(f"{table}.md")
    check(f"{table}.md", datasets=["demo_en2de", "demo_de2en"], scale="small", systems=[])
    assert "holds demo_en2de, which" in refusal(check, f"{table}.md", datasets=["demo_de2en"])


def test_a_message_names_three_lost_runs_and_counts_the_others(check):
    write_json("results/tables/systems.json", rows("depparse_l1", seeds=range(2, 8)))
    assert "seed2, smoke/demo_en2de/depparse_l1/seed3, smoke/demo_en2de/depparse_l1/seed4 and 3 more, which" in refusal(
        check, "systems.md"
    )


def test_unknown_names_of_tables_are_errors(check):
    check("demo.md")
    assert "unknown table 'sytems'. Did you mean systems?" in refusal(check, "sytems.md")
    assert "unknown table 'demo'" in refusal(check, "mine/demo.md")
    assert "a table is tables/systems.md or tables/NAME/systems.md" in refusal(check, "My Table/systems.md")
    assert "a table is tables/systems.md or tables/NAME/systems.md" in refusal(check, "a/b/systems.md")


@pytest.mark.parametrize("text", ["[", '[{"dataset": "demo_en2de"}]', "[3]", "{}"])
def test_a_broken_table_is_an_error(check, text):
    Path("results/tables").mkdir(parents=True)
    Path("results/tables/systems.json").write_text(text)
    assert refusal(check, "systems.md") == "results/tables/systems.json does not hold the JSON of a table: delete it."
