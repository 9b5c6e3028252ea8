"""The systems of the demo, and the files that its table is made from."""

from pathlib import Path
from typing import Any

from nmtcore.config.project import Project
from nmtcore.config.yaml_files import read_yaml

DEMO_DATASET = "demo_en2de"
"""The data set of the demo."""

DEMO_SCALE = "demo"
"""Its scale."""

DEMO_MEASURED = Path(__file__).with_name("demo_measured.yaml")
"""What its systems gained with more seeds."""

DEMO_PARSER, DEMO_PARSER_CONTROL = "depparse_l1_light", "diagonalparse_l1_light"
"""The system that can parse and translate new text, where one that reads trees needs a parser, and its own control."""

DEMO_SYSTEMS = ("transformer_base", DEMO_PARSER, "transformer_relative", "relative_tree_traversal")
"""The demo's systems, each below what it is compared with."""


def demo_counts(project: Project) -> list[str]:
    """List the folders of counts of all systems and seeds."""
    return [
        project.layout.path("counts", scale=DEMO_SCALE, dataset=DEMO_DATASET, system=system, seed=seed)
        for system in DEMO_SYSTEMS
        for seed in project.seeds(DEMO_DATASET, system)
    ]


def demo_comparison(project: Project) -> dict[str, Any]:
    """Return what `demo_text` says of the counts."""
    return {
        "split": project.dataset(DEMO_DATASET).main_test,
        "compared_with": {system: project.compared_with(system) for system in DEMO_SYSTEMS},
        "measured": read_yaml(DEMO_MEASURED),
        "parser": DEMO_PARSER,
        "parser_control": DEMO_PARSER_CONTROL,
    }
