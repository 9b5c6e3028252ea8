"""The measures of tables: the files that each reads, for planning, and the values that it finds there, for a job.

`source` of a measure says at planning time what a cell is measured from, or raises `Unmeasurable`; it loads nothing
heavy. `values` computes the cell from its source, a number per seed; `counts`, of a score that can be compared,
what counts in each sentence.
"""

from collections.abc import Callable
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from nmtcore.config.assembly import MissingAnnotation
from nmtcore.config.components import PascalSettings
from nmtcore.config.metrics import command_metric
from nmtcore.config.registry import has_own
from nmtcore.layout import PAPER
from nmtcore.tables import runs, sizes, trees
from nmtcore.tables.cells import CellFiles, Source, Unmeasurable

if TYPE_CHECKING:
    from nmtcore.evaluation.counts import SentenceCounts

DIFFERS = " ≠"
"""Mark of a setting that differs from the published one."""

ALWAYS = ("bleu", "chrf")
"""The measures by which each test of translations has scores, in columns of their own if no column of the paper has."""

SETTING_NOTES = f"""
Ours are the settings at the scale `paper` on the paper's own data sets, whatever the scale of the other results. The
learning rate is the peak of its schedule.{DIFFERS}: differs from the published value.
"""


class Measure(NamedTuple):
    """What a metric of a table measures."""

    name: str
    label: str
    source: Callable[[CellFiles], Source]
    values: Callable[[Source], list[float]] | None = None
    """The value of each seed; None: the scores of `counts`."""
    counts: "Callable[[Source], list[SentenceCounts]] | None" = None
    """The counts of each seed; None: the values cannot be compared."""
    lacks: Callable[[Source], str] | None = None
    """Says why the files have no value; empty if they have one."""
    content: Literal["mean", "number", "duration"] = "mean"
    digits: int = 0
    also: tuple[str, ...] = ()
    """Measures that have columns of their own beside it."""
    notes: str = ""
    is_amount: bool = False
    """Whether more of it is neither better nor worse: it is a time, a number or a share."""
    of_translations: bool = False
    """Whether it scores translations, from the texts or by stored scores of segments."""


def _setting_source(cell_files: CellFiles) -> Source:
    """Return a setting at the scale of the papers, by the paper's name of it."""
    project, system, metric = cell_files.project, cell_files.cell.system, cell_files.cell.metric
    dataset = cell_files.cell.tested or cell_files.cell.row  # not our data set, which may stand in for the paper's
    if system is None or system not in project.system_entries:
        raise Unmeasurable(f"{system} is no system of ours")
    try:
        run = project.run(dataset, system, PAPER, 1)  # settings do not depend on the seed
    except MissingAnnotation as error:
        raise Unmeasurable(f"{dataset} names {error.missing}") from error
    beta1, beta2 = run.training.betas
    values: dict[str, Any] = {"learning_rate": run.training.schedule.peak, "beta1": beta1, "beta2": beta2}
    pascal = next((one for one in run.components.values() if isinstance(one, PascalSettings)), None)
    if pascal is not None:
        values |= {"heads": pascal.heads, "parent_ignoring": pascal.ignoring}
    if metric not in values:
        raise Unmeasurable(f"{run.system} scales no heads by parents")
    return {"value": values[metric]}


def _translations(measure: str, label: str, *, digits: int = 2, metric: str | None = None) -> Measure:
    source = partial(runs.translations_source, measure=measure, metric=metric)
    counts = runs.stored_counts
    return Measure(measure, label, source, counts=counts, digits=digits, also=ALWAYS, of_translations=True)


def _attachment(name: str, label: str, *also: str, chains: bool = False, notes: str = "") -> Measure:
    source = partial(runs.attachment_source, chains=chains)
    return Measure(name, label, source, counts=runs.stored_counts, digits=2, also=also, notes=notes)


def _induction(name: str, label: str, *also: str) -> Measure:
    shared = {"counts": trees.treebank_counts, "lacks": trees.without_words, "notes": trees.INDUCTION_NOTES}
    return Measure(name, label, trees.induction_source, digits=1, also=also, **shared)


def _productions(name: str, label: str, values: Any = trees.tag_shares) -> Measure:
    source, lacks, notes = trees.production_source, trees.without_shares, trees.PRODUCTION_NOTES
    return Measure(name, label, source, values, lacks=lacks, digits=1, notes=notes, is_amount=True)


def _log(name: str, label: str, *, digits: int = 0, notes: str = runs.LOG_NOTES, content: Any = "mean") -> Measure:
    values = partial(runs.facts, name)
    return Measure(name, label, runs.log_source, values, digits=digits, notes=notes, content=content, is_amount=True)


def _gates(name: str, label: str, *also: str, column: Any = "", digits: int = 2, notes: str = "") -> Measure:
    values = column if callable(column) else partial(runs.gate_numbers, column or name)
    return Measure(
        name,
        label,
        runs.gates_source,
        values,
        lacks=runs.without_tags,
        digits=digits,
        also=also,
        notes=notes,
        is_amount=True,
    )


def _setting(name: str) -> Measure:
    return Measure(name, name, _setting_source, lambda source: [source["value"]], content="number", notes=SETTING_NOTES)


_TIMES = {"notes": runs.TIME_NOTES}

_MEASURES = (
    _translations("bleu", "BLEU"),
    _translations("chrf", "chrF", digits=1),
    _translations("ribes", "RIBES"),
    _translations("multi_bleu", "multi-bleu"),
    _attachment("uas", "UAS", "tree_uas", "uas_mean", "diagonal_precision", notes=runs.UAS_NOTES),
    Measure("tree_uas", "UAS of trees", runs.tree_attachment_source, runs.spanning_tree_uas, digits=2),
    Measure("uas_mean", "UAS, mean over sentences", runs.attachment_source, runs.sentence_means, digits=2),
    _attachment("diagonal_precision", "precision of chains", chains=True),
    _induction("directed", "directed"),
    _induction("undirected", "undirected over gold edges", "undirected_predicted_edges"),
    _induction("undirected_predicted_edges", "undirected over predicted edges"),
    Measure("agreement", "agreement", trees.agreement_source, counts=trees.agreement_counts, digits=1,
            notes=trees.AGREEMENT_NOTES, is_amount=True),
    _productions("share", "share"),
    _productions("head_share", "share of heads"),
    _productions("gold_distance", "distance from gold", trees.gold_distances),
    Measure("sharpness", "sharpness", runs.layer_source, partial(runs.sharpness, fmean), digits=3,
            notes=runs.SHARPNESS_NOTES, is_amount=True),
    Measure("least_sharp_head", "least sharp head", runs.layer_source, partial(runs.sharpness, min), digits=3,
            notes=runs.SHARPNESS_NOTES, is_amount=True),
    _gates("highest", "highest", "highest_share", "tag_words", "tag_subwords", "tag_norm", digits=1,
           notes=runs.GATE_NOTES),
    _gates("highest_share", "highest, %", column="share"),
    _gates("highest_by_chance", "by chance, %", column="chance", notes=runs.CHANCE_NOTES),
    _gates("highest_distance", "distance", column=partial(runs.gate_distance, 0)),
    _gates("distance_by_chance", "distance by chance", column=partial(runs.gate_distance, 1)),
    _gates("tag_words", "words, %", column="words"),
    _gates("tag_subwords", "subwords, %", column="subwords"),
    _gates("tag_norm", "mean norm", column="norm", digits=3),
    Measure("early_bleu", f"BLEU, first {runs.EARLY} validations", runs.log_source, partial(runs.facts, "early_bleu"),
            digits=2, notes=runs.EARLY_NOTES),
    _log("first_loss", "loss, first", digits=2),
    _log("last_loss", "loss, last", digits=2),
    _log("updates", "updates"),
    _log("tokens_per_second", "tokens/s"),
    _log("seconds", "time", content="duration"),
    Measure(
        "relative_time", "relative time", runs.relative_source, runs.relative_time, digits=2,
        also=("seconds_per_update", "updates", "seconds_per_validation", "validations", "training_time"),
        notes=runs.TIME_NOTES, is_amount=True,
    ),
    _log("seconds_per_update", "seconds per update", digits=3, **_TIMES),
    _log("seconds_per_validation", "seconds per validation", digits=2, **_TIMES),
    _log("validations", "validations", **_TIMES),
    _log("training_time", "time", content="duration", **_TIMES),
    Measure("pairs", "pairs", sizes.pairs_source, sizes.reported),
    Measure("copied_sentences", "copied sentences", sizes.copies_source, sizes.reported),
    Measure("dropped_by_langdetect", "dropped by langdetect", sizes.dropped_source, sizes.reported),
    Measure("source_tokens", "source tokens", sizes.words_source, sizes.word_numbers),
    Measure("target_tokens", "target tokens", sizes.words_source, sizes.word_numbers),
    Measure(
        "sentences", "sentences", sizes.construction_source, sizes.construction_count, also=("sentences_share",),
        content="number", notes=sizes.CONSTRUCTION_NOTES,
    ),
    Measure(
        "sentences_share", "share, %", sizes.construction_source, sizes.construction_count, content="number", digits=1,
    ),
    Measure("english_subwords", "English subwords", sizes.vocabulary_source, sizes.vocabulary),
    Measure("other_subwords", "other subwords", sizes.vocabulary_source, sizes.vocabulary),
    Measure("types", "types", sizes.types_source, sizes.types),
    Measure("types_with_specials", "types with specials", sizes.types_source, sizes.types),
    Measure("english_words_unsplit", "English words unsplit", sizes.share_source, sizes.share, digits=4),
    Measure(
        "english_words_of_at_most_7_subwords", "English words of at most 7 subwords", sizes.share_source, sizes.share,
        digits=4,
    ),
    *map(_setting, ("learning_rate", "beta1", "beta2", "heads", "parent_ignoring")),
)  # fmt: skip

MEASURES = {measure.name: measure for measure in _MEASURES}
"""The measures, by the metrics that name them."""

SETTINGS = frozenset(name for name, measure in MEASURES.items() if measure.source is _setting_source)
"""The settings of runs, which are those at the scale of the papers, on their own data sets."""

ATTACHMENT = ("uas", "diagonal_precision")
"""The measures of heads by what was counted in each sentence."""

INDUCTION = frozenset(name for name, measure in MEASURES.items() if measure.source is trees.induction_source)
"""The measures of induced trees."""


def measure_named(name: str) -> Measure | None:
    """Return a measure, also a metric that is a command or of the user's own; None if there is none of this name."""
    if name in MEASURES:
        return MEASURES[name]
    if (metric := command_metric(name)) is not None:
        return _translations(name, metric.label, digits=metric.digits, metric=name)
    return _translations(name, name) if has_own("metrics", name) else None


def measured_source(cell_files: CellFiles) -> Source:
    """Return what the measure of a cell is measured from. Raises `Unmeasurable` if nothing can be measured."""
    name = cell_files.cell.measure
    if (measure := measure_named(name)) is None:
        raise Unmeasurable(f"{name or 'nothing'} is no measure")
    return measure.source(cell_files)


def is_amount(name: str) -> bool:
    """Return whether a measure is of an amount, such as time, of which more is neither better nor worse."""
    measure = measure_named(name)
    return measure is not None and measure.is_amount


def is_of_translations(name: str) -> bool:
    """Return whether a measure scores translations."""
    measure = measure_named(name)
    return measure is not None and measure.of_translations


def as_gain(name: str, delta: float, low: float, high: float) -> tuple[float, float, float]:
    """Return a difference and its interval as a gain: with the other sign if lower values of the measure are better."""
    metric = command_metric(name)
    return (delta, low, high) if metric is None or metric.higher_is_better else (-delta, -high, -low)


def measure_label(name: str) -> str:
    """Return the name of a measure in tables."""
    from nmtcore.evaluation.metrics import METRICS

    measure = measure_named(name)
    return METRICS[name].label if name in METRICS else measure.label if measure else name
