"""Which jobs make their outputs again: those whose records say that they were made from something else.

Snakemake decides by the times of files, whatever its `rerun-triggers` are, and by its own notes in `.snakemake`. Times
change when a folder is copied, and the notes stay behind. Records come along with the results, so they decide. Where
they say that an output is up to date and the times do not, the times are put in order, as by `snakemake --touch`.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nmtcore.errors import explain_os_errors
from nmtcore.layout import Layout
from nmtcore.written import ChangedOrigin, Records, differing


class Compared(NamedTuple):
    """What the records say about the jobs of a plan."""

    changed: dict[Any, ChangedOrigin]
    """The jobs whose outputs would be made from something else now."""
    unknown: list[Any]
    """The jobs of which neither a record nor Snakemake says what their outputs were made from."""
    touched: bool
    """Whether times were put in order."""


def compare_with_records(dag: Any, layout: Layout, *, is_ours: Callable[[Any], bool], accept: bool) -> Compared:
    """Compare the outputs of the jobs in Snakemake's graph with their records.

    Outputs without a record are up to date if Snakemake's notes say so; without notes, they are `unknown`. With
    `accept`, all that is there counts as made from what it would be made from now.
    """
    records, times, persistence = Records(layout), _Times(), dag.workflow.persistence
    changed: dict[Any, ChangedOrigin] = {}
    unknown: list[Any] = []
    again: set[Any] = set()
    for job in (job for level in dag.toposorted() for job in level if is_ours(job)):
        inputs, outputs = list(map(str, job.input)), list(map(str, job.output))
        there = [path for path in outputs if os.path.exists(path)]
        if not again.isdisjoint(dag.dependencies[job]):
            again.add(job)
        if there or any(map(records.of, outputs)):
            made_from = records.made_from(inputs, dict(job.params.items()))
            difference = records.difference(there or outputs, made_from)
            if accept:
                records.complete(there, rule=job.rule.name, made_from=made_from)
            elif difference:
                # Snakemake's notes, where there are any, have the settings themselves.
                changed[job] = difference._replace(settings=_noted_settings(job, persistence) or difference.settings)
            elif difference is None and persistence.has_metadata(job):
                if noted := ChangedOrigin(_noted_settings(job, persistence), tuple(persistence.input_changed(job))):
                    changed[job] = noted
                elif dag.needrun(job):
                    again.add(job)
            elif difference is None and there:
                unknown.append(job)
        if job in changed:
            again.add(job)
        if job not in again:
            dated = [*outputs, str(job.benchmark)] if job.benchmark else outputs
            times.put_in_order(dated, inputs, records)
    return Compared(changed, unknown, times.touched)


def unknown_sentence(unknown: Sequence[str], *, targets: str) -> str:
    """Say which results are used without knowing what they were made from, and what to do about it."""
    more = f" (and the results of {len(unknown) - 1:,} more jobs)" if len(unknown) > 1 else ""
    return (
        f"{unknown[0]}{more}: nothing says which version, settings and inputs made them; they are used as they are. To "
        f"record that they are up to date: snakemake --touch {targets}. To make them again: snakemake --forceall "
        f"{targets}."
    )


def _noted_settings(job: Any, persistence: Any) -> str:
    """Return in words how a job's parameters differ from those that Snakemake noted; empty if they do not."""
    change = persistence.params_changed(job) if persistence.has_metadata(job) else None
    return str(change) if change else ""


class _Times:
    """The times of files as Snakemake takes them, in nanoseconds."""

    def __init__(self) -> None:
        self.touched = False
        self._known: dict[str, int] = {}

    def put_in_order(self, outputs: Sequence[str], inputs: Sequence[str], records: Records) -> None:
        """Make outputs that are up to date as new as their newest input, if no newer input was damaged or edited.

        An output that is not there, such as a temporary one, counts as if it were as new as that.
        """
        newest = max(map(self._of, inputs), default=0)
        old = [path for path in outputs if self._of(path) < newest]
        if not old:
            return
        there = [path for path in old if os.path.lexists(path)]
        if there:
            oldest = min(map(self._of, there))
            known = (records.of(path) for path in inputs if self._of(path) > oldest and os.path.exists(path))
            if any(record is None or any(differing(record)) for record in known):
                return
        for path in old:
            self._known[path] = newest
        for path in map(_dated, there):
            with explain_os_errors(path):
                os.utime(path, ns=(newest, newest), follow_symlinks=False)
        self.touched |= bool(there)

    def _of(self, path: str) -> int:
        if path not in self._known:
            file = _dated(path)
            here = os.path.exists(file)
            self._known[path] = max(os.lstat(file).st_mtime_ns, os.stat(file).st_mtime_ns) if here else 0
        return self._known[path]


def _dated(path: str) -> str:
    """Return the file with the time of an output: for a folder, one that Snakemake writes into it."""
    stamp = os.path.join(path, ".snakemake_timestamp")
    return stamp if os.path.exists(stamp) else path
