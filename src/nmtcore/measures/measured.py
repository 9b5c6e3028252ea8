"""The runs on a test behind gates, attention and curves, and the annotation of tests: figures, examples, parts."""

from nmtcore.config.project import Project
from nmtcore.measures.place import Place, Source
from nmtcore.measures.scores import translations_source
from nmtcore.measures.training import log_source

SUBSETS = (("target", "ccg"), ("source", "constituency"), ("target", "constituency"))
"""The annotations that parts of a test are made from, as (side, column)."""


def _measurable(place: Place, lacks: str) -> str:
    """Say why there is no model that translates the cell's split."""
    if place.runs is None:
        return place.cell.reason or f"{place.cell.system} is no system"
    run = place.run
    return "" if run.external is None and place.split in run.tests else lacks.format(split=place.cell.split)


def gates_source(place: Place) -> Source | str:
    """Return the norms of the gates of all seeds."""
    lacks = "its system has no gate, or {split} is no test"
    if reason := _measurable(place, lacks):
        return reason
    if not place.run.has_gates:
        return lacks.format(split=place.cell.split)
    return {"files": {"gates": place.by_seed("gates", split=place.split)}, "split": place.split}


def attention_source(place: Place) -> Source | str:
    """Return the attention of the first seed, the sentences of the test and, of a run that parses, their trees.

    `encoder_heads`: whether the encoder has attention heads (a transformer's has); `claimed`: those that components
    compute or train.
    """
    if reason := _measurable(place, "it has no model, or {split} is no test"):
        return reason
    run, split = place.run, place.split
    parsed = run.tree_annotator is not None and split in run.parsed_tests
    trees = place.path("annotation", split=split, annotator=run.tree_annotator, side="source") if parsed else None
    return {
        "files": {
            "attention": place.by_seed("attention", first=True, split=split),
            "pairs": place.path("pairs", split=split),
            "trees": trees,
        },
        "split": split,
        "encoder_heads": run.base == "transformer",
        "claimed": sorted(run.claimed_heads),
    }


def sharpness_source(place: Place) -> Source | str:
    """Return the attention of all seeds of a run whose encoder has attention heads."""
    lacks = "its encoder has no attention heads"
    if reason := _measurable(place, lacks):
        return reason
    if place.run.base != "transformer":
        return lacks
    files = {"attention": place.by_seed("attention", split=place.split)}
    return {"files": files, "split": place.split, "claimed": sorted(place.run.claimed_heads)}


def curves_source(place: Place) -> Source | str:
    """Return the training logs, and the size of the beam of validation (1: greedy search)."""
    source = log_source(place)
    return source if isinstance(source, str) else {**source, "beam": place.run.training.validation.beam}


def examples_source(place: Place) -> Source | str:
    """Return the translations by the lowest seed, the sentence pairs and the supertags of the references."""
    cell = place.cell
    if place.runs is None or cell.split is None:
        return cell.reason or f"{cell.row} is not run"
    seed = str(min(place.runs.seeds))
    tags = [path for _, column, path in test_annotations(place.project, cell.dataset, cell.split) if column == "ccg"]
    settings = place.project.dataset(cell.dataset).evaluation
    return {
        "files": {
            "hypotheses": {seed: place.by_seed("hypotheses", split=cell.split)[seed]},
            "pairs": place.path("pairs", split=cell.split),
            "supertags": tags[0] if tags else None,
        },
        "split": cell.split,
        "evaluation": {key: getattr(settings, key) for key in ("text", "tokenize", "lowercase")},
    }


def test_annotations(project: Project, name: str, split: str) -> list[tuple[str, str, str]]:
    """List the side, column and path of each annotation of a test that parts of it are made from."""
    dataset, annotations = project.dataset(name), []
    for side, column in SUBSETS:
        if annotator := dataset.syntax.get(side, {}).get(column):
            names = {"dataset": name, "annotator": annotator, "split": split, "side": side}
            annotations.append((side, column, project.layout.path("annotation", **names)))
    return annotations


def parts_source(place: Place, measure: str) -> Source | str:
    """Return the annotations that parts of a test are made from and, behind a gain on them, the translations.

    A paper's table has constructions of the target side, one of the configured systems also phrases.
    """
    cell = place.cell
    if cell.reason or cell.dataset is None or cell.split is None:
        return cell.reason
    everything = test_annotations(place.project, cell.dataset, cell.split)
    annotations = [own for own in everything if own[1] == "ccg" or place.configured]
    if not annotations:
        phrases = ", or for constituency" if place.configured else ""
        return f"{cell.dataset} names no annotator for ccg of the target side{phrases}"
    files = {"annotations": {f"{side}.{column}": path for side, column, path in annotations}}
    if cell.metric == "sentences":
        return {"files": files, "split": cell.split}
    return _with_baseline(place, measure, files)


def lengths_source(place: Place, measure: str) -> Source | str:
    """Return the translations that are scored by length, and the pairs of the test."""
    cell = place.cell
    pairs = {} if cell.split is None or cell.dataset is None else {"pairs": place.path("pairs", split=cell.split)}
    return _with_baseline(place, measure, pairs)


def _with_baseline(place: Place, measure: str, files: Source) -> Source | str:
    """Return the translations of the cell's runs, those of the baseline's (`baseline`), and more files."""
    source = translations_source(place, measure)
    if isinstance(source, str):
        return source
    against = "" if place.baseline is None else translations_source(place._replace(runs=place.baseline), measure)
    files = files if isinstance(against, str) else {**files, "baseline": against["files"]}
    return {**source, "files": {**source["files"], **files}}
