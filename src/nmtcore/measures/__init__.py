"""What cells of tables measure: the files that each measure reads, for planning, and the values that it finds there.

`source` of a measure says at planning time what a cell is measured from, or why nothing can be measured; it loads
nothing heavy. `values` computes the cell from its source, a number per seed; `counts`, of a score that can be compared,
what counts in each sentence.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from nmtcore.config.own_code import has_own
from nmtcore.config.paper_tables import SEGMENT_MEASURES, TRANSLATION_MEASURES
from nmtcore.measures import measured, scores, settings, sizes, training, trees
from nmtcore.measures.place import Place, Source, source_paths

if TYPE_CHECKING:
    from nmtcore.evaluation.counts import SentenceCounts

__all__ = ["KINDS", "MEASURES", "Measure", "Place", "Source", "measure_named", "source_of", "source_paths"]


class Measure(NamedTuple):
    """What a metric of a table measures."""

    label: str
    source: Callable[[Place], Source | str]
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


def _translations(measure: str, label: str = "", *, digits: int = 2) -> Measure:
    return Measure(
        label,
        partial(scores.translations_source, measure=measure),
        counts=scores.stored_counts,
        digits=digits,
    )


def _attachment(label: str, *also: str, notes: str = "") -> Measure:
    return Measure(label, scores.attachment_source, counts=scores.stored_counts, digits=2, also=also, notes=notes)


def _induction(label: str, *also: str) -> Measure:
    return Measure(
        label,
        trees.induction_source,
        counts=trees.treebank_counts,
        lacks=trees.without_words,
        digits=1,
        also=also,
        notes=trees.INDUCTION_NOTES,
    )


def _log(
    label: str, values: Callable, *, digits: int = 0, notes: str = training.NOTES, content: Any = "mean"
) -> Measure:
    return Measure(label, training.log_source, values, digits=digits, notes=notes, content=content)


_TIMES = {"notes": training.TIME_NOTES}

MEASURES = {
    "bleu": _translations("bleu", "BLEU"),
    "chrf": _translations("chrf", "chrF", digits=1),
    "ribes": _translations("ribes", "RIBES"),
    "multi_bleu": _translations("multi_bleu", "multi-bleu"),
    "comet": _translations("comet", "COMET"),
    "uas": _attachment("UAS", "tree_uas", "uas_mean", "diagonal_precision", notes=scores.UAS_NOTES),
    "tree_uas": Measure("UAS of trees", scores.tree_attachment_source, scores.spanning_tree_uas, digits=2),
    "uas_mean": Measure("UAS, mean over sentences", scores.attachment_source, scores.sentence_means, digits=2),
    "diagonal_precision": Measure(
        "precision of chains", partial(scores.attachment_source, chains=True), counts=scores.stored_counts, digits=2
    ),
    "directed": _induction("directed"),
    "undirected": _induction("undirected over gold edges", "undirected_predicted_edges"),
    "undirected_predicted_edges": _induction("undirected over predicted edges"),
    "share": Measure(
        "share", trees.production_source, trees.tag_shares, digits=1, notes=trees.PRODUCTION_NOTES,
        lacks=lambda source: ""
        if trees.tag_shares(source)
        else f"these trees have no dependents of {source['head']}",
    ),
    "first_loss": _log("loss, first", training.first_loss, digits=2),
    "last_loss": _log("loss, last", training.last_loss, digits=2),
    "updates": _log("updates", training.updates),
    "tokens_per_second": _log("tokens/s", training.tokens_per_second),
    "seconds": _log("time", training.seconds, content="duration"),
    "relative_time": Measure(
        "relative time", training.relative_source, training.relative_time, digits=2, notes=training.TIME_NOTES,
        also=("seconds_per_update", "updates", "seconds_per_validation", "validations", "training_time"),
    ),
    "seconds_per_update": _log("seconds per update", training.seconds_per_update, digits=3, **_TIMES),
    "seconds_per_validation": _log("seconds per validation", training.seconds_per_validation, digits=2, **_TIMES),
    "validations": _log("validations", training.validations, **_TIMES),
    "training_time": _log("time", training.training_time, content="duration", **_TIMES),
    "pairs": Measure("pairs", sizes.pairs_source, sizes.reported),
    "copied_sentences": Measure("copied sentences", sizes.copies_source, sizes.reported),
    "dropped_by_langdetect": Measure("dropped by langdetect", sizes.dropped_source, sizes.reported),
    "source_tokens": Measure("source tokens", sizes.words_source, sizes.word_numbers),
    "target_tokens": Measure("target tokens", sizes.words_source, sizes.word_numbers),
    "english_subwords": Measure("English subwords", sizes.vocabulary_source, sizes.vocabulary),
    "other_subwords": Measure("other subwords", sizes.vocabulary_source, sizes.vocabulary),
    "types": Measure("types", sizes.types_source, sizes.types),
    "types_with_specials": Measure("types with specials", sizes.types_source, sizes.types),
    "english_words_unsplit": Measure("English words unsplit", sizes.share_source, sizes.share, digits=4),
    "english_words_of_at_most_7_subwords": Measure(
        "English words of at most 7 subwords", sizes.share_source, sizes.share, digits=4
    ),
    **{
        name: Measure(name, settings.settings_source, settings.setting, content="number", notes=settings.NOTES)
        for name in ("learning_rate", "beta1", "beta2", "heads", "parent_ignoring")
    },
}  # fmt: skip
"""The measures, by the metrics that name them."""

KINDS: dict[str, Callable[..., Source | str]] = {
    "gates": measured.gates_source,
    "attention": measured.attention_source,
    "sharpness": measured.sharpness_source,
    "curves": measured.curves_source,
    "examples": measured.examples_source,
    "trees": trees.trees_source,
    "constructions": measured.parts_source,
    "lengths": measured.lengths_source,
}
"""The sources of the cells of tables that are more than a grid of numbers."""


def measure_named(name: str) -> Measure | None:
    """Return a measure, also a metric of the user's own; None if there is none of this name."""
    if name in MEASURES:
        return MEASURES[name]
    return _translations(name, name) if has_own("metrics", name) else None


def is_of_translations(measure: str) -> bool:
    """Return whether a measure scores translations, from the texts or by stored scores of segments."""
    return measure in (*TRANSLATION_MEASURES, *SEGMENT_MEASURES) or has_own("metrics", measure)


def source_of(table_kind: str, measure: str, place: Place) -> Source | str:
    """Return what a cell of a table of some kind is measured from, or say why nothing can be measured."""
    if table_kind in ("constructions", "lengths"):
        return KINDS[table_kind](place, measure)
    if table_kind in KINDS:
        return KINDS[table_kind](place)
    known = measure_named(measure)
    return known.source(place) if known else f"{measure or 'nothing'} is no measure"
