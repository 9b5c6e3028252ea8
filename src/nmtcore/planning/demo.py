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


def demo_translations(project: Project) -> list[str]:
    """List the folders of translations of all systems and seeds."""
    return [
        project.layout.path("hypotheses", scale=DEMO_SCALE, dataset=DEMO_DATASET, system=system, seed=seed)
        for system in DEMO_SYSTEMS
        for seed in project.seeds(DEMO_DATASET, system)
    ]


def demo_test_file(project: Project, *, file_type: str) -> str:
    """Return the path of the test's sentence pairs ("pairs") or of the trees of its source ("annotation")."""
    dataset = project.dataset(DEMO_DATASET)
    names = {"dataset": DEMO_DATASET, "split": dataset.main_test}
    if file_type == "annotation":
        names |= {"annotator": dataset.syntax["source"]["ccg"], "side": "source"}
    return project.layout.path(file_type, **names)


def demo_evaluation(project: Project) -> dict[str, object]:
    """Return the settings of BLEU."""
    settings = project.dataset(DEMO_DATASET).evaluation
    return {key: getattr(settings, key) for key in ("text", "tokenize", "lowercase")}
