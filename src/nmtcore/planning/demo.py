"""The systems of the demo, and the files that its table is made from."""

from nmtcore.config.project import Project

DEMO_DATASET = "demo_en2de"
"""The data set of the demo."""

DEMO_SCALE = "demo"
"""Its scale."""

DEMO_SYSTEMS = ("transformer_base", "depparse_l1", "diagonalparse_l0")
"""The baseline, a system with a head that is a parser, and one with a control head that points to the previous word."""


def demo_summaries(project: Project, *, score: str) -> list[str]:
    """List the summaries of a score; the baseline has no head to score (uas)."""
    systems = DEMO_SYSTEMS[1:] if score == "uas" else DEMO_SYSTEMS
    names = {"scale": DEMO_SCALE, "dataset": DEMO_DATASET, "score": score}
    return [project.layout.path("summary", system=system, **names) for system in systems]


def demo_counts(project: Project) -> list[str]:
    """List the folders of counts of all systems and seeds."""
    return [
        project.layout.path("counts", scale=DEMO_SCALE, dataset=DEMO_DATASET, system=system, seed=seed)
        for system in DEMO_SYSTEMS
        for seed in project.seeds(DEMO_DATASET, system)
    ]


def demo_trees(project: Project) -> str:
    """Return the path of the trees of the test's source."""
    dataset = project.dataset(DEMO_DATASET)
    names = {"dataset": DEMO_DATASET, "split": dataset.main_test, "annotator": dataset.syntax["source"]["ccg"]}
    return project.layout.path("annotation", **names, side="source")
