"""What a user may have meant by a target that no rule makes."""

import difflib
from collections.abc import Callable, Iterable, Iterator

from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.project import Project
from nmtcore.config.targets import SCORES, check_target, parse_target, scale_prefix
from nmtcore.errors import UserError

RUN_FILES = ("model", "training.jsonl", "hypotheses", "scores.json", "gold", "gold.json")
"""What lies in results/{scale}/{dataset}/{system}/seed{n}/."""


def unknown_target(
    project: Project, target: str, *, rules: Iterable[str], files: Iterable[str], makes: Callable[[str], bool]
) -> str:
    """Say that no rule makes `target`, and name the nearest targets that can be made.

    `rules` are the rules that may be asked for by name, `files` their outputs; `makes` tells whether some rule makes a
    path.
    """
    found = _near(target, rules) if "/" not in target else []
    for path in (_in_results(project, target), f"{project.settings.paths.results.rstrip('/')}/{target}"):
        if not found and path and makes(path):
            check_target(project, path)  # raises a sentence of its own where a name in it is unknown
            found = [path]
    candidates = [*files, *_paths(project, _in_results(project, target) or target)]
    found = found or [path for path in _near(target, candidates, count=10) if makes(path) and _fits(project, path)][:3]
    if found:
        return f"{target}: no rule makes this. Did you mean {' or '.join(found)}?"
    return (
        f"{target}: no rule makes this. Ask for one of {', '.join(sorted(rules))}, or for a file, such as "
        f"{project.settings.paths.results.rstrip('/')}/demo_en2de/transformer_base.bleu."
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
    results = project.settings.paths.results.rstrip("/")
    first, slash, rest = target.partition("/")
    return f"{results}/{rest}" if slash and _near(first, [results]) else None


def _paths(project: Project, target: str) -> Iterator[str]:
    """Give the paths of all results of the data set that `target` names."""
    parsed = parse_target(project, target)
    if parsed is None or parsed.parts[0] not in project.dataset_files:
        return
    results, dataset = project.settings.paths.results.rstrip("/"), project.dataset(parsed.parts[0])
    stem = f"{results}/{scale_prefix(parsed.scale)}{dataset.name}"
    for system in project.system_entries:
        yield from (f"{stem}/{system}.{score}" for score in SCORES)
        if system in parsed.parts:
            yield from (f"{stem}/{system}/seed{n}/{name}" for n in project.settings.seeds for name in RUN_FILES)
    segmentation = project.segmentation(dataset, project.scale(project.settings.scale)).name
    yield f"{results}/{dataset.name}/segmentation/{segmentation}"
    for name in _data_files(dataset, segmentation):
        yield f"{results}/{dataset.name}/{name}"


def _data_files(dataset: DatasetSettings, segmentation: str) -> Iterator[str]:
    """Name the files of the corpus, annotation and features of a data set, below its folder."""
    for split in dataset.splits:
        yield from (f"corpus/{raw}{split}.{kind}" for raw in ("", "raw/") for kind in ("parquet", "json"))
        for side in dataset.sides(split):
            yield f"features/{segmentation}/{split}.{side}.parquet"
            for annotator in dataset.annotators:
                stem = f"annotation/{annotator}/{split}.{side}"
                yield from (f"{stem}.parquet", f"{stem}.json", f"annotation/{annotator}/{side}.labels.json")
                yield f"features/{segmentation}/{split}.{side}.{annotator}.parquet"
