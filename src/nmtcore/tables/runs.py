"""What is measured of runs: scores of translations and heads, attention, gates by tag, and training from its log.

Shapes: B sentences, F features.
"""

from collections.abc import Callable, Sequence
from functools import cache, reduce
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from nmtcore.config.datasets import GOLD
from nmtcore.errors import UserError
from nmtcore.layout import file_name
from nmtcore.tables.cells import CellFiles, Source, Unmeasurable

if TYPE_CHECKING:
    import pandas as pd

    from nmtcore.evaluation.counts import SentenceCounts

UAS_NOTES = """
UAS: of the most probable heads or, if trees are induced, of the trees, compared with the parser's trees or, on a split
gold_..., with a treebank's. UAS of trees: of the maximum spanning trees of a system that learns from trees. Precision
of chains: of the most probable heads of a system that learns that the head is the previous word.
"""

GATE_NOTES = """
Highest: sentences whose highest gate norm (L2, of the gate with which a subword of the reference is predicted) is at a
subword of a word with this tag, and their percentage of the tagged sentences, next to the tag's percentage of all words
and of all subwords, and the mean norm at its subwords.
"""
CHANCE_NOTES = """
By chance: what is expected if a subword is drawn from each sentence. Distance: half the sum of the differences between
the percentages of tags and those by chance, without their signs. End of sentence: where </s> is predicted.
"""
SHARPNESS_NOTES = """
Sharpness: the mean, over the tokens of the first sentences of a test, of the largest weight in a row of attention, in
all heads of a layer of the encoder. Least sharp head: in the head of the layer where that is lowest.
"""

END = "end of sentence"
"""What tables call </s> among the tags of gates."""

EARLY = 5
"""The number of validations that are the start of training."""

EARLY_NOTES = f"BLEU at the start of training: of dev, the mean over the first {EARLY} validations."

LOG_NOTES = """
Loss: translation loss per target token, with label smoothing, in the first and last line of the training log. Tokens/s:
target tokens without padding, median over the log's lines.
"""
TIME_NOTES = """
Time: median seconds per update times the number of updates, plus those of validations. Relative: the time per update
divided by the mean of the baseline's runs. Times can only be compared on the same kind of machine, with nothing else
running there.
"""


def translations_source(cell_files: CellFiles, *, measure: str, metric: str | None) -> Source:
    """Return the counts of the translations by the cell's runs; a row that is no system of ours has none."""
    if cell_files.runs is None or cell_files.cell.test is None:
        raise Unmeasurable(cell_files.cell.reason)
    cell_files.made_by_models("hypotheses", split=cell_files.cell.test)
    counts = cell_files.by_seed("metric_counts", metric=metric) if metric else cell_files.by_seed("counts")
    return {"files": {"counts": counts}, "split": cell_files.cell.test, "column": measure}


def attachment_source(cell_files: CellFiles, *, chains: bool = False) -> Source:
    """Return the counts of the parses by the cell's runs; nothing if they do not parse the split.

    With `chains`, these are runs that learn chains, else those that do not.
    """
    cell, run = cell_files.cell, cell_files.run
    gold = (cell.test or "").startswith(GOLD)
    is_chain = run.tree_comparison == "chain"
    if is_chain != chains or cell.test not in (run.gold if gold else run.parsed_tests):
        raise Unmeasurable
    if not gold:
        cell_files.made_by_models("hypotheses", split=cell.test)
    files = {"counts": cell_files.by_seed("gold_counts" if gold else "counts")}
    return {"files": files, "split": cell.test, "column": "tree_uas" if run.tree_comparison == "induced" else "uas"}


def tree_attachment_source(cell_files: CellFiles) -> Source:
    """Return the scores of the cell's runs, if `attachment_source` counts heads that are not those of their trees."""
    source = attachment_source(cell_files)
    if cell_files.run.tree_comparison != "supervised":
        raise Unmeasurable
    gold = source["split"].startswith(GOLD)
    files = {"scores": cell_files.by_seed("gold_scores" if gold else "scores")}
    return {"files": files, "split": source["split"], "score": "gold.uas" if gold else "uas"}


def stored_counts(source: Source) -> "list[SentenceCounts]":
    """Read the counts of each seed. Raises `UserError` if there are none by this measure, or if the tests differ."""
    from nmtcore.evaluation.counts import read_counts
    from nmtcore.evaluation.metrics import score_of

    paths = [
        Path(folder) / file_name("split_counts", split=source["split"]) for folder in source["files"]["counts"].values()
    ]
    counts = [read_counts(path, source["column"], score_of(source["column"])) for path in paths]
    for path, of_seed in zip(paths, counts, strict=True):
        if of_seed.test != counts[0].test:
            raise UserError(
                f"{paths[0]} and {path} are of different sentences, so that they cannot be compared: delete the "
                "results of the older run and run the workflow again."
            )
    return counts


def spanning_tree_uas(source: Source) -> list[float]:
    """Return the UAS of the spanning trees of each seed; none if no word was compared."""
    from nmtcore.evaluation.attachment import scores_by_measure
    from nmtcore.files import explain_content, read_json

    values = []
    for path in map(Path, source["files"]["scores"].values()):
        with explain_content(path):
            values.append(scores_by_measure(read_json(path)[source["score"]][source["split"]])["tree_uas"]["uas"])
    return [value for value in values if value is not None]


def sentence_means(source: Source) -> list[float]:
    """Return the mean of the percentages of the sentences with words, for each seed; 0 if there are none."""
    means = []
    for counts in stored_counts(source):
        scored_BF = counts.counts_BF[counts.counts_BF[:, 1] > 0]
        means.append(float(counts.score(scored_BF).mean()) if len(scored_BF) else 0.0)
    return means


def check_model(cell_files: CellFiles, lacks: str, suits: Callable[[Any], bool] = lambda run: True) -> None:
    """Raise `Unmeasurable` if there is no model that translates the cell's split, or none that `suits`."""
    cell = cell_files.cell
    if cell_files.runs is None:
        raise Unmeasurable(cell.reason or f"{cell.system} is no system")
    run = cell_files.run
    if run.external is not None or cell_files.test not in run.tests or not suits(run):
        raise Unmeasurable(lacks.format(split=cell.test))


def model_source(
    cell_files: CellFiles, file_type: str, lacks: str, *, suits: Callable[[Any], bool], first: bool = False
) -> Source:
    """Return a file of each seed, or of the first one, that a model makes of the cell's split (`check_model`)."""
    check_model(cell_files, lacks, suits)
    split = cell_files.test
    return {"files": {file_type: cell_files.made_by_models(file_type, first=first, split=split)}, "split": split}


def sharpness_source(cell_files: CellFiles) -> Source:
    """Return the attention of all seeds of a run whose encoder has attention heads, and those that are claimed."""
    lacks = "its encoder has no attention heads"
    source = model_source(cell_files, "attention", lacks, suits=lambda run: run.base == "transformer")
    return source | {"claimed": sorted(cell_files.run.claimed_heads)}


def layer_source(cell_files: CellFiles) -> Source:
    """Return the attention of all seeds, and the number of the layer, from 0, that the item `layer N` names."""
    source, item = sharpness_source(cell_files), cell_files.cell.item
    layers = [f"layer {number}" for number in range(cell_files.run.model.encoder_layers)]
    if item not in layers:
        raise Unmeasurable(f"{item} is no layer of its encoder ({layers[0]} to {layers[-1]})")
    return {"files": source["files"], "split": source["split"], "layer": layers.index(item)}


def sharpness(joined: Callable[[Sequence[float]], float], source: Source) -> list[float]:
    """Join the mean largest weights of the heads of a layer, for each seed."""
    layer = f"{source['layer']}."
    heads_by_seed = [_sharpness(path).items() for path in source["files"]["attention"].values()]
    return [joined([mean for head, mean in heads if head.startswith(layer)]) for heads in heads_by_seed]


@cache
def _sharpness(attention: str) -> dict[str, float]:
    from nmtcore.evaluation.sharpness import count_sharpness

    return {name: counted["mean_maximum"] for name, counted in count_sharpness([Path(attention)]).items()}


def gates_source(cell_files: CellFiles) -> Source:
    """Return the norms of the gates of all seeds, and the tag that is counted."""
    lacks = "its system has no gate, or {split} is no test"
    return model_source(cell_files, "gates", lacks, suits=lambda run: run.has_gates) | {"tag": cell_files.cell.item}


def gate_numbers(name: str, source: Source) -> list[float]:
    """Return a column of `count_gates` for each seed; of a tag that no word has, 0, or nothing for its norm."""
    counts = [count_gates(path)[name] for path in source["files"]["gates"].values()]
    return [float(tags.get(source["tag"], 0)) for tags in counts if name != "norm" or source["tag"] in tags]


def without_tags(source: Source) -> str:
    """Say that no word of a test has a tag; nothing if some have one."""
    paths = source["files"]["gates"].values()
    return f"the words of {source['split']} have no tags" if any(count_gates(path).empty for path in paths) else ""


def gate_distance(position: int, source: Source) -> list[float]:
    """Return a distance of tags from those by chance, for each seed: of the highest gates, or of drawn subwords."""
    return [_gate_distances(path)[position] for path in source["files"]["gates"].values()]


@cache
def _gate_distances(gates: str) -> tuple[float, float]:
    """Return the distance of the tags with the highest gates from those by chance, and the expected one of a draw."""
    import numpy as np

    counts, chances, drawn = count_gates(gates), _chances(gates), 0.0
    for _, shares in chances.items():
        # The probability of each number of sentences with the tag: a draw per sentence, independent of the others.
        probabilities = reduce(np.convolve, ([1 - share, share] for share in shares), [1.0])
        drawn += probabilities @ np.abs(np.arange(len(probabilities)) - shares.sum())
    return float((counts.share - counts.chance).abs().sum() / 2), float(50 * drawn / len(chances))


def _chances(gates: str) -> "pd.DataFrame":
    """Return the share of each tag among the subwords of each sentence, a row per sentence."""
    by_sentence = _tagged_subwords(gates).query("tag != @END").groupby("sentence")
    return by_sentence.tag.value_counts(normalize=True).unstack(fill_value=0.0)


@cache
def count_gates(gates: str) -> "pd.DataFrame":
    """Count the tags of a file of gate norms (`inference.scoring`), a row per tag.

    `highest` are the sentences whose highest norm is at a subword of a word with this tag (of several, the first),
    `share` their percentage of the sentences with tags, and `chance` what this is expected to be if a subword is drawn
    from each sentence; `words` and `subwords` are the tag's percentages of all tagged ones, and `norm` is the mean norm
    of its subwords. `</s>` does not count; `END` is the mean norm with which it is predicted.
    """
    import pandas as pd

    subwords = _tagged_subwords(gates)
    tagged = subwords.query("tag != @END")
    highest = tagged.loc[tagged.groupby("sentence").norm.idxmax()].groupby("tag").size()
    words = tagged.drop_duplicates(["sentence", "word"]).groupby("tag").size()
    counts = {"highest": highest, "words": words, "subwords": tagged.groupby("tag").size()}
    for name, of in (("share", "highest"), ("words", "words"), ("subwords", "subwords")):
        counts[name] = 100 * counts[of] / counts[of].sum()
    counts |= {"chance": 100 * _chances(gates).mean(), "norm": subwords.groupby("tag").norm.mean()}
    return pd.DataFrame(counts).fillna(0)


@cache
def _tagged_subwords(gates: str) -> "pd.DataFrame":
    """Read the subwords of sentences with tags, and the end of each of these sentences."""
    import pandas as pd

    from nmtcore.features.examples import NO_WORD
    from nmtcore.parquet import read_rows

    rows = []
    for number, row in enumerate(read_rows(Path(gates), columns=["words", "upos", "norms"])):
        # Tags that the system generates among the words do not count.
        pieces = zip(row["words"], row["upos"] or (), row["norms"], strict=False)
        tagged = [(number, word, tag, norm) for word, tag, norm in pieces if word != NO_WORD and tag is not None]
        rows += [*tagged, (number, NO_WORD, END, row["norms"][-1])] if tagged else []
    return pd.DataFrame(rows, columns=["sentence", "word", "tag", "norm"])


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
    """Summarise a training log: the losses of its first and last line, BLEU, updates, validations, speed and times.

    The losses are translation losses; None if there were no training pairs. `early_bleu` is the mean BLEU of the first
    `EARLY` validations; None if there are fewer, or if they compute none. Times of an update and of a validation are
    medians, so that moments in which the machine was busy do not count; `training_time` is that of all of them at these
    medians, and `seconds` what the clock said. Raises `UserError` if the log is broken or records no update.
    """
    from nmtcore.files import explain_content
    from nmtcore.training.log import TRANSLATION_LOSS, read_history

    steps, times, validations, before = [], [], [], 0.0
    bleu: dict[int, float] = {}
    with explain_content(Path(history)):
        for entry in read_history(Path(history)):
            elapsed, before = entry["seconds"] - before, entry["seconds"]
            if "validation" in entry:
                validations.append(elapsed)
                bleu[entry["update"]] = entry["validation"].get("bleu")
            elif "update" in entry:
                steps.append(entry)
                times.append(elapsed / entry["updates"])
        if not steps:
            raise UserError(f"{history} records no update: delete it and train again.")
        updates, per_update = steps[-1]["update"], median(times)
        per_validation = median(validations) if validations else 0.0
        training_time = updates * per_update + len(validations) * per_validation
        speeds = [step["tokens_per_second"] for step in steps if "tokens_per_second" in step]
        early = [*bleu.values()][:EARLY]
    return {
        "first_loss": steps[0].get(TRANSLATION_LOSS),
        "last_loss": steps[-1].get(TRANSLATION_LOSS),
        "early_bleu": fmean(early) if len(early) == EARLY and None not in early else None,
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
