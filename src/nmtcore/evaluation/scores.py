"""Scores of a run, computed without torch from the files of translations and parses, or from what a command wrote."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nmtcore.config.stages import ScoringSettings
from nmtcore.errors import UserError, explain_os_errors
from nmtcore.evaluation.attachment import attachment_counts, attachment_scores, is_punctuation, matching_heads
from nmtcore.evaluation.counts import SentenceCounts, checksum_of_test, share_of_counts, write_counts
from nmtcore.evaluation.induction import GoldTree, checksum_of_treebank, counts_by_trees, gold_tree, score_induction
from nmtcore.evaluation.metrics import METRICS, TEXT_NOTES, bleu_scores, count_translations
from nmtcore.evaluation.summary import DEV, GREEDY_DEV, run_lines
from nmtcore.files import read_json, read_lines, write_json
from nmtcore.inference.schemas import TREE_METHODS
from nmtcore.layout import file_name
from nmtcore.parquet import read_rows


class OutputFiles(NamedTuple):
    """The files of a run's translations or parses of a split, each with one row per sentence in the split's order."""

    translations: Path
    greedy_translations: Path
    """Those of greedy search; exists only for dev, if `evaluation.greedy_dev` asks for it."""
    references: Path
    """Text or tokens like the translations, with the original capitals."""
    parses: Path
    """`PARSE_SCHEMA`; exists only if the system parses."""
    predicted_tags: Path
    """`PREDICTED_TAGS_SCHEMA`; exists only if the system predicts tags of the target's words."""
    untrained_parses: Path
    """Parses by the untrained model; exists only for treebanks, of systems whose trees are induced."""


def output_files(folder: Path) -> OutputFiles:
    """Name the output files of a split in its folder, `hypotheses/{split}` or, with parses alone, `gold/{split}`."""
    return OutputFiles(*(folder / file_name(name) for name in OutputFiles._fields))


def make_output_files(folder: Path) -> OutputFiles:
    """Make the folder of a split, and name its output files."""
    with explain_os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return output_files(folder)


def read_translations(translations: Path, references: Path) -> tuple[list[str], list[str]]:
    """Read translations and references in a run's folder. Raises `UserError` if their numbers differ."""
    texts = read_lines(translations), read_lines(references)
    if len(texts[0]) != len(texts[1]):
        raise UserError(
            f"{translations} has {len(texts[0]):,} lines, but {references} has {len(texts[1]):,}: delete "
            f"{translations.parent} and run the workflow again."
        )
    return texts


def score_tests(
    settings: ScoringSettings,
    *,
    hypotheses: Mapping[str, Path],
    corpora: Mapping[str, Path],
    trees: Mapping[str, Path],
    in_train: Sequence[Path] = (),
    scores: Path,
    counts: Path,
) -> list[str]:
    """Score the translations of every test split, and the parses of `settings.parsed`; return the scores as lines.

    Writes bleu, the data set's `metrics`, and uas if parses are scored, by split to `scores` (JSON), and to the folder
    `counts` what all metrics that there are count in each sentence (`counts.write_counts`), so that a table can have
    any of them. Dev's greedy translations, if there are any, have the name `GREEDY_DEV`. `hypotheses` are folders by
    split; `corpora` and `trees` (empty for a chain) are the files, by split, with which parses are compared. `in_train`
    are the counts of what tests share with train (`{split}.in_train.json`), which stand beside their BLEU.
    """
    files = {split: output_files(hypotheses[split]) for split in settings.splits}
    compared = {split: (outputs.translations, outputs.references) for split, outputs in files.items()}
    if settings.evaluation.greedy_dev and DEV in files:
        compared[GREEDY_DEV] = files[DEV].greedy_translations, files[DEV].references
    values: dict[str, Any] = {
        key: {} for key in ("bleu", *settings.evaluation.metrics, *["uas"] * bool(settings.parsed))
    }
    for name, paths in compared.items():
        counted = count_translations(*read_translations(*paths), settings.evaluation, METRICS)
        values["bleu"][name] = bleu_scores(counted)
        for metric in settings.evaluation.metrics:
            values[metric][name] = corpus_scores(metric, counted[metric])
        if name in settings.parsed:
            parses = read_compared(files[name].parses, corpora[name], trees.get(name))
            values["uas"][name] = score_parses(parses, settings)
            counted |= count_parses(parses, settings, test=counted["bleu"].test)
        write_counts(counts / file_name("split_counts", split=name), counted)
    for path in in_train:
        values["bleu"][path.name.partition(".")[0]]["in_train"] = read_json(path)["in_train"]
    return write_scores(settings, values, scores)


def corpus_scores(metric: str, counts: SentenceCounts) -> dict[str, Any]:
    """Return a metric's score of all sentences, its signature and the number of sentences."""
    return {metric: counts.corpus_score(), f"{metric}_signature": counts.signature, "sentences": len(counts)}


def score_gold(
    settings: ScoringSettings,
    *,
    parses: Mapping[str, Path],
    corpora: Mapping[str, Path],
    trees: Mapping[str, Path],
    scores: Path,
    counts: Path,
) -> list[str]:
    """Score the `parses` of a run's gold treebanks (folders) against the treebanks' `trees`; return scores as lines.

    Writes gold.uas by split to `scores` (JSON): the result of `score_parses` or, if trees are induced, of
    `score_induction`; and to the folder `counts` the counts of sentences by `count_parses` and, for trees with one
    root, those of `counts_by_trees`.
    """
    values = {}
    for split in settings.parsed:
        files = output_files(parses[split])
        compared = read_compared(files.parses, corpora[split], trees[split])
        gold = read_gold_trees(corpora[split], trees[split], len(compared.predicted))
        predicted = {"spanning_tree": [row["one_root"] for row in compared.predicted]}
        if settings.trees == "induced":
            predicted["untrained"] = [
                row["one_root"] for row in read_rows(files.untrained_parses, columns=["one_root"])
            ]
            values[split] = score_induction(gold, predicted)
        else:
            values[split] = score_parses(compared, settings)
        counted = count_parses(compared, settings, test=checksum_of_treebank(gold))
        if all(heads is not None for heads in predicted["spanning_tree"]):
            counted |= counts_by_trees(gold, predicted)
        write_counts(counts / file_name("split_counts", split=split), counted)
    return write_scores(settings, {"gold.uas": values}, scores)


def write_scores(settings: ScoringSettings, values: Mapping[str, Any], scores: Path) -> list[str]:
    """Write scores with the run's names, and return them as lines."""
    names = {key: getattr(settings, key) for key in ("dataset", "system", "scale", "seed")}
    write_json(scores, {**names, **values})
    return run_lines(values, scores.parent)


class ComparedParses(NamedTuple):
    """Predicted heads and what they are compared with, sentence by sentence."""

    predicted: list[dict[str, Any]]
    """Rows of `PARSE_SCHEMA`."""
    gold: list[list[int] | None]
    punctuation: list[list[bool]]
    """Marks as `is_punctuation` makes them."""
    chain: bool
    """Whether the gold head of every word is the previous word."""

    def matches(self, method: str) -> list[list[int] | None]:
        """Count the matches of the trees that one of the methods found; see `matching_heads`."""
        return matching_heads([row[method] for row in self.predicted], self.gold, self.punctuation)


def score_parses(compared: ComparedParses, settings: ScoringSettings) -> dict[str, Any]:
    """Score predicted heads, by argmax and as spanning trees, against a parser's or a treebank's trees of the source.

    `spanning_tree` is the tree with one root or many, as `evaluation.roots` says. A chain (`diagonalparse`) has only
    the argmax. Induced trees have none: what a model induces are trees, not the most probable head of each word.
    """
    methods = {} if settings.trees == "induced" else {"argmax": "argmax"}
    if not compared.chain:
        tree = TREE_METHODS[settings.evaluation.roots]
        methods |= {"spanning_tree": tree, "one_root": "one_root", "many_roots": "many_roots"}
    return {name: attachment_scores(compared.matches(method)) for name, method in methods.items()}


def count_parses(compared: ComparedParses, settings: ScoringSettings, *, test: str) -> dict[str, SentenceCounts]:
    """Count the right heads of each sentence: `uas` by argmax or, of induced trees, `tree_uas` by `spanning_tree`."""
    if settings.trees == "induced":
        return {"tree_uas": attachment_counts(compared.matches(TREE_METHODS[settings.evaluation.roots]), test=test)}
    return {"uas": attachment_counts(compared.matches("argmax"), test=test)}


def read_compared(parses: Path, corpus: Path, trees: Path | None) -> ComparedParses:
    """Read the parses of a split and the trees that they are compared with.

    Without `trees` the gold head of a word is the previous word, and of the first word the word itself.
    """
    predicted = list(read_rows(parses))
    if trees is None:
        words = [row["source_words"] for row in read_rows(corpus, columns=["source_words"], stop=len(predicted))]
        gold = [[max(1, word) for word in range(len(sentence))] for sentence in words]
        return ComparedParses(predicted, gold, [is_punctuation(sentence) for sentence in words], chain=True)
    rows = _read_trees(corpus, trees, len(predicted))
    marks = [is_punctuation(words, upos) for words, _, upos in rows]
    return ComparedParses(predicted, [heads for _, heads, _ in rows], marks, chain=False)


def read_gold_trees(corpus: Path, trees: Path, sentences: int | None) -> list[GoldTree | None]:
    """Read the gold trees of the first sentences of a treebank, or of all; None for a sentence without heads."""
    rows = _read_trees(corpus, trees, sentences)
    return [None if heads is None else gold_tree(heads, words, upos) for words, heads, upos in rows]


def _read_trees(corpus: Path, trees: Path, sentences: int | None) -> list[tuple[list[str], Any, Any]]:
    """Read the words, heads and universal tags of the first sentences, or of all."""
    words = read_rows(corpus, columns=["source_words"], stop=sentences)
    rows = read_rows(trees, columns=["head", "upos"], stop=sentences)
    return [(sentence["source_words"], row["head"], row["upos"]) for sentence, row in zip(words, rows, strict=True)]


def score_metric(
    settings: ScoringSettings,
    *,
    metric: str,
    made_from: dict[str, Any],
    output: Path,
    hypotheses: Mapping[str, Path],
    counts: Path,
    scores: Path,
) -> list[str]:
    """Divide the scores that a command gave sentences (`outside.py`) among the splits; return their means as lines.

    Args:
        settings: the splits, in the order of the scores.
        metric: name of the metric.
        made_from: its `CommandMetric.made_from`.
        output: the scores (JSON), one for each sentence of all splits.
        hypotheses: the folder of the run's references of each split.
        counts: folder for the counts of sentences (`write_counts`): each score, and what stands for 100.
        scores: path for the corpus scores of each split (JSON).
    """
    references = {split: read_lines(output_files(hypotheses[split]).references) for split in settings.splits}
    result, sentences = read_json(output), sum(map(len, references.values()))
    values = result["scores"]
    if len(values) != sentences:
        raise UserError(f"{output} has {len(values):,} scores for {sentences:,} sentences: delete it and score again.")
    signature = result["signature"] or f"{metric}|command:{checksum_of_test([made_from])[:16]}"
    compared: dict[str, Any] = {}
    for split, lines in references.items():
        split_values, values = values[: len(lines)], values[len(lines) :]
        counted = SentenceCounts(
            counts_BF=np.stack([split_values, np.full(len(split_values), 100 / made_from["times"])], axis=1),
            score=share_of_counts,
            signature=signature + TEXT_NOTES[settings.evaluation.text],
            test=checksum_of_test(lines),
        )
        write_counts(counts / file_name("split_counts", split=split), {metric: counted})
        compared[split] = corpus_scores(metric, counted)
    write_scores(settings, {metric: compared}, scores)
    return run_lines({metric: compared}, scores.parents[1])
