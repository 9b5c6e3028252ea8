"""The systems of the demo, and the files that its table is made from."""

from typing import Any

from nmtcore.config.project import Project

DEMO_DATASET = "demo_en2de"
"""The data set of the demo."""

DEMO_SCALE = "demo"
"""Its scale."""

DEMO_PARSER, DEMO_PARSER_CONTROL = "depparse_l1_light", "diagonalparse_l1_light"
"""The system that can parse and translate new text, where one that reads trees needs a parser, and its own control."""

DEMO_CONTROLS: dict[str, str | None] = {
    "transformer_base": None,
    DEMO_PARSER: "transformer_base",
    "transformer_relative": None,
    "relative_tree_traversal": "transformer_relative",
}
"""The demo's systems: those that use trees, each below the same system without trees, with which it is compared."""

DEMO_MEASURED = (
    "That noise is large: with the seeds 1 to 5, gains of depparse_l1_light were 2.0 to 6.8 points, and of "
    "relative_tree_traversal 2.5 to 11.7. They were measured on another machine, by a search that left some "
    "translations empty, which min_length: 1 excludes now."
)
"""What five seeds have shown, so that a user of one seed knows what the noise of training does."""


def demo_counts(project: Project) -> list[str]:
    """List the folders of counts of all systems and seeds."""
    return [
        project.layout.path("counts", scale=DEMO_SCALE, dataset=DEMO_DATASET, system=system, seed=seed)
        for system in DEMO_CONTROLS
        for seed in project.seeds(DEMO_DATASET, system)
    ]


def demo_comparison(project: Project) -> dict[str, Any]:
    """Return what `demo_text` says of the counts."""
    return {
        "split": project.dataset(DEMO_DATASET).main_test,
        "controls": DEMO_CONTROLS,
        "measured": DEMO_MEASURED,
        "parser": DEMO_PARSER,
        "parser_control": DEMO_PARSER_CONTROL,
    }
