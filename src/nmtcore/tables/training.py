"""Training, from its log: losses, updates, speed, and the time that it took."""

from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import Any

from nmtcore.tables.cells import CellFiles, Source, Unmeasurable

NOTES = """
Loss: translation loss per target token, with label smoothing, in the first and last line of the training log. Tokens/s:
target tokens without padding, median over the log's lines.
"""
TIME_NOTES = """
Time: median seconds per update times the number of updates, plus those of validations. Relative: the time per update
divided by the mean of the baseline's runs. Times can only be compared on the same kind of machine, with nothing else
running there.
"""


def log_source(cell_files: CellFiles) -> Source:
    """Return the training logs of the cell's runs."""
    if not cell_files.run.is_trained:
        raise Unmeasurable("it was not trained here, so it has no training log")
    return {"files": {"history": cell_files.by_seed("history")}}


def relative_source(cell_files: CellFiles) -> Source:
    """Return the training logs of the cell's runs, and of the baseline's."""
    source = log_source(cell_files)
    try:
        baseline = log_source(cell_files._replace(runs=cell_files.baseline))
    except Unmeasurable:
        raise Unmeasurable("there is no run of the baseline to compare with") from None
    return {"files": {**source["files"], "baseline": baseline["files"]["history"]}}


def facts(name: str, source: Source) -> list[float]:
    """Return a fact about training from the log of each seed; nothing if a log lacks it."""
    values = [training_facts(path)[name] for path in source["files"]["history"].values()]
    return [] if None in values else values


@cache
def training_facts(history: str) -> dict[str, Any]:
    """Summarise a training log: the losses of its first and last line, updates, validations, speed and times.

    The losses are translation losses; None if there were no training pairs. Times of an update and of a validation are
    medians, so that moments in which the machine was busy do not count; `training_time` is that of all of them at these
    medians, and `seconds` what the clock said. Raises `UserError` if the log is broken or records no update.
    """
    from nmtcore.errors import UserError
    from nmtcore.files import explain_content
    from nmtcore.training.log import TRANSLATION_LOSS, read_history

    steps, times, validations, before = [], [], [], 0.0
    with explain_content(Path(history)):
        for entry in read_history(Path(history)):
            elapsed, before = entry["seconds"] - before, entry["seconds"]
            if "validation" in entry:
                validations.append(elapsed)
            elif "update" in entry:
                steps.append(entry)
                times.append(elapsed / entry["updates"])
        if not steps:
            raise UserError(f"{history} records no update: delete it and train again.")
        updates, per_update = steps[-1]["update"], median(times)
        per_validation = median(validations) if validations else 0.0
        training_time = updates * per_update + len(validations) * per_validation
        speeds = [step["tokens_per_second"] for step in steps if "tokens_per_second" in step]
    return {
        "first_loss": steps[0].get(TRANSLATION_LOSS),
        "last_loss": steps[-1].get(TRANSLATION_LOSS),
        "updates": updates,
        "tokens_per_second": median(speeds) if speeds else None,
        "seconds": before,
        "seconds_per_update": per_update,
        "validations": len(validations),
        "seconds_per_validation": per_validation,
        "training_time": training_time,
        "seconds_per_update_with_validation": training_time / updates,
    }


def relative_time(source: Source) -> list[float]:
    """Return the time per update of each seed, divided by the mean of the baseline's."""
    name = "seconds_per_update_with_validation"
    baseline = fmean(facts(name, {"files": {"history": source["files"]["baseline"]}}))
    return [time / baseline for time in facts(name, source)]
