"""What a user may have meant by a target that no rule makes."""

import difflib
from collections.abc import Callable, Iterable, Iterator

from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.project import Project
from nmtcore.errors import UserError
from nmtcore.layout import FILES, SCORES, Layout
from nmtcore.planning.targets import check_target, parse_target

_RUN_FILES = tuple(kind for kind, template in FILES.items() if "{seed}" in template)


def unknown_target(
    project: Project, target: str, *, rules: Iterable[str], files: Iterable[str], makes: Callable[[str], bool]
) -> str:
    """Say that no rule makes `target`, and name the nearest targets that can be made.

    `rules` are the rules that may be asked for by name, `files` their outputs; `makes` tells whether some rule makes a
    path.
    """
    found = _near(target, rules) if "/" not in target else []
    for path in (_in_results(project, target), f"{project.layout.results}/{target}"):
        if not found and path and makes(path):
            check_target(project, path)  # raises a sentence of its own where a name in it is unknown
            found = [path]
    candidates = [*files, *_paths(project, _in_results(project, target) or target)]
    found = found or [path for path in _near(target, candidates, count=10) if makes(path) and _fits(project, path)][:3]
    if found:
        return f"{target}: no rule makes this. Did you mean {' or '.join(found)}?"
    return (
        f"{target}: no rule makes this. Ask for one of {', '.join(sorted(rules))}, or for a file, such as "
        f"{project.layout.results}/demo_en2de/transformer_base.bleu."
    )


def _near(name: str, valid: Iterable[str], count: int = 3) -> list[str]:
    return difflib.get_close_matches(name, list(valid), n=count, cutoff=0.6)


def _fits(project: Project, path: str) -> bool:
    try:
        check_target(project, path)
    except UserError:
        return False
    return True


def _in_results(project: Project, target: str) -> str | None:
    """Correct a path whose first folder is a misspelt results folder; None for other paths."""
    results = project.layout.results
    first, slash, rest = target.partition("/")
    return f"{results}/{rest}" if slash and _near(first, [results]) else None


def _paths(project: Project, target: str) -> Iterator[str]:
    """Give the paths of all results of the data set that `target` names."""
    parsed = parse_target(project, target)
    if parsed is None or parsed.parts[0] not in project.dataset_files:
        return
    dataset, path = project.dataset(parsed.parts[0]), project.layout.path
    for system in project.system_entries:
        names = {"scale": parsed.scale, "dataset": dataset.name, "system": system}
        yield from (path("summary", **names, score=score) for score in SCORES)
        if system in parsed.parts:
            yield from (path(kind, **names, seed=seed) for seed in project.settings.seeds for kind in _RUN_FILES)
    segmentation = project.segmentation(dataset, project.scale(project.settings.scale)).name
    yield path("segmentation", dataset=dataset.name, segmentation=segmentation)
    yield from _data_files(project.layout, dataset, segmentation)


def _data_files(layout: Layout, dataset: DatasetSettings, segmentation: str) -> Iterator[str]:
    """Give the paths of the corpus, annotation and features of a data set."""
    for split in dataset.splits:
        names = {"dataset": dataset.name, "split": split}
        yield from (layout.path(kind, **names) for kind in ("pairs", "pairs_report", "raw_pairs", "raw_report"))
        for side in dataset.sides(split):
            tokens = {**names, "side": side, "segmentation": segmentation}
            yield layout.path("tokens", **tokens)
            for annotator in dataset.annotators:
                trees = {**names, "side": side, "annotator": annotator}
                yield from (layout.path(kind, **trees) for kind in ("annotation", "annotation_report"))
                yield layout.path("labels", dataset=dataset.name, side=side, annotator=annotator)
                yield layout.path("syntax", **tokens, annotator=annotator)
