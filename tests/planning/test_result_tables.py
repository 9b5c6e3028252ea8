"""The names of tables and figures on a command line."""

from pathlib import Path

import pytest

from nmtcore.config.project import Project
from nmtcore.errors import UserError
from nmtcore.planning.targets import check_target


@pytest.fixture
def check(root: Path):
    project = Project([root / "config"], {"scale": "smoke", "datasets": ["demo_en2de"], "systems": ["nmt"]})
    return lambda target: check_target(project, f"results/{target}")


@pytest.mark.parametrize(
    "target",
    ["tables/systems.md", "tables/mine/systems.tex", "tables/demo.md", "tables/heads.csv", "figures/curves.svg",
     "figures/mine/constructions.svg", "tables/pham2018_table_6_1.md", "figures/pham2018_figure_6_4.svg"],
)  # fmt: skip
def test_names_of_tables_and_figures(check, target):
    check(target)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("tables/sytems.md", "unknown table 'sytems'. Did you mean systems?"),
        ("tables/mine/demo.md", "unknown table 'demo'"),
        ("tables/My Table/systems.md", "a table is tables/systems.md or tables/NAME/systems.md"),
        ("tables/a/b/systems.md", "a table is tables/systems.md or tables/NAME/systems.md"),
        ("figures/curve.svg", "unknown figure 'curve'. Did you mean curves?"),
        ("figures/systems.svg", "unknown figure 'systems'"),
        ("figures/a/b/curves.svg", "a figure is figures/curves.svg or figures/NAME/curves.svg"),
        (
            "figures/mine/pham2018_table_6_1.svg",
            "pham2018_table_6_1 is a table of scores, of which no figure is drawn: ask for "
            "results/tables/mine/pham2018_table_6_1.md.",
        ),
    ],
)
def test_unknown_names_are_errors(check, target, message):
    with pytest.raises(UserError) as error:
        check(target)
    assert message in str(error.value)
