"""Suggestions for a target that no rule makes."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product

from nmtcore.config.datasets import GOLD, DatasetSettings
from nmtcore.config.project import Project
from nmtcore.config.project_settings import PathsSettings
from nmtcore.errors import UserError, joined_by_or
from nmtcore.layout import FILES, SCORES, Layout
from nmtcore.planning.targets import check_target, parse_target

_RUN_FILES = tuple(file_type for file_type, template in FILES.items() if "{seed}" in template)


def unknown_target(
    project: Project, target: str, *, rules: Iterable[str], files: Iterable[str], makes: Callable[[str], bool]
) -> str:
    """Say that no rule makes `target`, and suggest the most similar targets that can be made.

    Args:
        project: the configuration.
        target: a name or path on the command line.
        rules: the rules that can be targets.
        files: outputs of rules without wildcards.
        makes: whether some rule makes a path.

    Raises:
        UserError: if `target` only lacks a correct results folder, but a name in it is unknown.
    """
    suggestions = _near(target, rules) if "/" not in target else []
    spelled = project.layout.spelled(target)
    for path in (spelled, _in_results(project, target), f"{project.layout.results}/{target}"):
        if not suggestions and path and makes(path):
            check_target(project, path)
            suggestions = [path]
    if not suggestions:
        candidates = [*files, *_paths(project, _in_results(project, target) or target)]
        near = _near(target, candidates, count=10)
        suggestions = [path for path in near if makes(path) and _passes_check(project, path)][:3]
    if suggestions:
        return f"{target}: no rule makes this. Did you mean {joined_by_or(suggestions)}?"
    return (
        f"{target}: no rule makes this. Ask for one of {', '.join(sorted(rules))}, or for a file, such as "
        f"{project.layout.results}/demo_en2de/transformer_base.bleu."
    )


def _near(name: str, valid: Iterable[str], count: int = 3) -> list[str]:
    return difflib.get_close_matches(name, list(valid), n=count, cutoff=0.6)


def _passes_check(project: Project, path: str) -> bool:
    try:
        check_target(project, path)
    except UserError:
        return False
    return True


def _in_results(project: Project, target: str) -> str | None:
    """Correct a misspelt results folder, or the default one, at the beginning of a path; return None for others."""
    results = project.layout.results
    first, slash, rest = target.partition("/")
    return f"{results}/{rest}" if slash and _near(first, [results, PathsSettings.results]) else None


def _paths(project: Project, target: str) -> Iterator[str]:
    """Yield the paths of all results of the data set that `target` names."""
    parsed = parse_target(project, target)
    if parsed is None or parsed.parts[0] not in project.dataset_files:
        return
    dataset, path = project.dataset(parsed.parts[0]), project.layout.path
    for system in project.system_entries:
        names = {"scale": parsed.scale, "dataset": dataset.name, "system": system}
        yield from (path("summary", **names, score=score) for score in (*SCORES, *project.layout.own_scores))
        if system in parsed.parts:
            yield from _run_paths(project, dataset, names)
    segmentation = project.segmentation(dataset, project.scale(project.settings.scale)).name
    yield path("segmentation", dataset=dataset.name, segmentation=segmentation)
    yield from _data_files(project.layout, dataset, segmentation)


def _run_paths(project: Project, dataset: DatasetSettings, names: Mapping[str, str]) -> Iterator[str]:
    """Yield the paths of the files of a system's runs: gates and attention on tests, heads on gold treebanks..."""
    for seed, file_type in product(project.settings.seeds, _RUN_FILES):
        own_splits = {"head_scores": dataset.source_treebanks(GOLD), "contrast_scores": dataset.contrasts}
        splits = own_splits.get(file_type, dataset.tests)
        for split in splits if "{split}" in FILES[file_type] else (None,):
            split_name = {} if split is None else {"split": split}
            yield project.layout.path(file_type, **names, **split_name, seed=seed)


def _data_files(layout: Layout, dataset: DatasetSettings, segmentation: str) -> Iterator[str]:
    """Yield the paths of the corpus, annotation and features of a data set."""
    for split in dataset.splits:
        names = {"dataset": dataset.name, "split": split}
        yield from (layout.path(type_, **names) for type_ in ("pairs", "pairs_report", "raw_pairs", "raw_report"))
        for side in dataset.sides(split):
            tokens = {**names, "side": side, "segmentation": segmentation}
            yield layout.path("tokens", **tokens)
            for annotator in dataset.annotators:
                trees = {**names, "side": side, "annotator": annotator}
                yield from (layout.path(type_, **trees) for type_ in ("annotation", "annotation_report"))
                yield layout.path("labels", dataset=dataset.name, side=side, annotator=annotator)
                yield layout.path("syntax", **tokens, annotator=annotator)
