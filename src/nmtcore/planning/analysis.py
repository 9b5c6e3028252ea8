"""Inputs of the tables and figures that compare systems with a baseline: on subsets of a test, and by examples."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.errors import UserError

SUBSETS = (("target", "ccg"), ("source", "constituency"), ("target", "constituency"))
"""The annotations that subsets of a test are made from, as (side, column)."""


def compared_baseline(project: Project) -> str:
    """Return the system that others are compared with. Raises `UserError` if it is none of the configured systems."""
    baseline, systems = project.settings.baseline, project.settings.systems
    if baseline is None:
        return "transformer_base" if "transformer_base" in systems or not systems else systems[0]
    if baseline not in systems:
        raise UserError(
            f"config.yaml: baseline: {baseline} is none of the configured systems ({', '.join(systems)}): add it to "
            "`systems`, or name another."
        )
    return baseline


def analysed_tests(project: Project) -> dict[str, dict[str, Any]]:
    """Return what describes the main test of each configured data set: {data set: {split, evaluation, annotations}}.

    `evaluation` has the settings of BLEU; `annotations` lists (side, column, path), none for some data sets.
    """
    tests = {}
    for name in project.settings.datasets:
        split, settings = project.dataset(name).main_test, project.dataset(name).evaluation
        annotations = list(_annotations(project, name, split))
        evaluation = {key: getattr(settings, key) for key in ("text", "tokenize", "lowercase")}
        tests[name] = {
            "split": split,
            "evaluation": evaluation,
            "annotations": annotations,
        }
    return tests


def target_supertags(project: Project, tests: Iterable[tuple[str | None, str | None]]) -> dict[str, dict[str, str]]:
    """Return the CCG supertags of the target side of tests (data set, split): {data set: {split: path}}.

    Tests whose data set has no supertags are left out.
    """
    supertags: dict[str, dict[str, str]] = {}
    for dataset, split in dict.fromkeys(tests):
        if dataset is not None and split is not None:
            paths = [path for _, column, path in _annotations(project, dataset, split) if column == "ccg"]
            if paths:
                supertags.setdefault(dataset, {})[split] = paths[0]
    return supertags


def construction_inputs(project: Project, *, runs: Sequence[RunSettings], file_type: str) -> list[str]:
    """List the translations ("hypotheses") or annotations of a table of constructions.

    Raises `UserError` if no data set has annotations to make subsets from.
    """
    tests = analysed_tests(project)
    annotated = [name for name, test in tests.items() if test["annotations"]]
    if not annotated or not runs:
        raise UserError(
            "A table of constructions needs `systems`, and `datasets` whose `syntax` names an annotator for ccg of the "
            "target side or for constituency, in config.yaml or on the command line."
        )
    compared_baseline(project)
    if file_type == "hypotheses":
        return _translations(project, [run for run in runs if run.dataset in annotated])
    return list(dict.fromkeys(path for name in annotated for _, _, path in tests[name]["annotations"]))


def construction_results(project: Project, *, table: str) -> str:
    """Return the JSON of a table of constructions. Raises `UserError` if its systems leave nothing to draw."""
    _check_compared(project, "A figure of constructions")
    return project.layout.path("construction_json", table=table)


def example_inputs(project: Project, *, runs: Sequence[RunSettings], file_type: str) -> list[str]:
    """List the translations ("hypotheses") by the lowest seed, the sentence pairs or the supertags for examples.

    Raises `UserError` if there are no systems to compare with the baseline.
    """
    _check_compared(project, "A table of examples")
    if not runs:
        raise UserError("A table of examples needs `datasets` in config.yaml, or on the command line.")
    tests = analysed_tests(project)
    if file_type == "hypotheses":
        return _translations(project, [run for run in runs if run.seed == min(project.seeds(run.dataset, run.system))])
    if file_type == "pairs":
        return [project.layout.path("pairs", dataset=name, split=test["split"]) for name, test in tests.items()]
    return [path for test in tests.values() for _, column, path in test["annotations"] if column == "ccg"]


def validation_beams(*, runs: Sequence[RunSettings]) -> dict[str, list[int]]:
    """Return the sizes of the beams with which the runs of each data set are validated (1: greedy search)."""
    beams: dict[str, set[int]] = {}
    for run in runs:
        if run.external is not None:
            continue
        beams.setdefault(run.dataset, set()).add(run.training.validation.beam)
    return {dataset: sorted(sizes) for dataset, sizes in beams.items()}


def _check_compared(project: Project, subject: str) -> None:
    """Raise `UserError` if the baseline is the only configured system."""
    baseline = compared_baseline(project)
    if not set(project.settings.systems) - {baseline}:
        raise UserError(
            f"{subject} compares a baseline with other systems: name at least two `systems` in config.yaml or on the "
            "command line."
        )


def _translations(project: Project, runs: Sequence[RunSettings]) -> list[str]:
    return [
        project.layout.path("hypotheses", scale=run.scale, dataset=run.dataset, system=run.system, seed=run.seed)
        for run in runs
    ]


def _annotations(project: Project, name: str, split: str) -> Iterator[tuple[str, str, str]]:
    """Yield the side, column and path of each annotation of a test that subsets are made from."""
    dataset = project.dataset(name)
    for side, column in SUBSETS:
        if annotator := dataset.syntax.get(side, {}).get(column):
            names = {"dataset": name, "annotator": annotator, "split": split, "side": side}
            yield side, column, project.layout.path("annotation", **names)
