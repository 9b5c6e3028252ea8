"""The results of the demo: scores, differences from the baseline, and BLEU by construction, as plain values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.typed import build
from nmtcore.demo import SIZES
from nmtcore.demo.contrasts import PHENOMENA, generate_contrasts
from nmtcore.evaluation.compare import compare_systems
from nmtcore.evaluation.counts import SentenceCounts
from nmtcore.evaluation.metrics import METRICS
from nmtcore.evaluation.outputs import SplitOutputs, read_outputs, runs_by_dataset
from nmtcore.evaluation.subsets import read_subsets
from nmtcore.files import read_json
from nmtcore.layout import Layout
from nmtcore.parquet import read_rows
from nmtcore.reporting.empty_translations import empty_outputs

PHENOMENON_LABELS = {
    "number": "agreement",
    "number_attractor": "agreement (attractor)",
    "verb_main": "inverted main clause",
    "verb_subordinate": "verb-final clause",
    "attachment_verb": "PP attached to verb",
    "attachment_object": "PP attached to object",
}
"""What sentences show that have a contrastive pair of a phenomenon (`nmtcore.demo.contrasts`)."""

CONSTRUCTION_LABELS = {
    "question": "question",
    "conjunction": "coordination",
    "prepositional": "prepositional phrase",
    "control_raising": "control or raising",
    "relative_subordinate": "relative clause",
}
"""What sentences show whose source has a supertag of a construction (`nmtcore.syntax.categories`)."""


def demo_results(
    *,
    bleu: Sequence[Path],
    uas: Sequence[Path],
    hypotheses: Sequence[Path],
    pairs: Path,
    trees: Path,
    evaluation: Mapping[str, Any],
    layout: Layout,
) -> dict[str, Any]:
    """Compare the demo's systems with the first of them, on the main test and on its sentences by construction.

    `empty` are sentences about systems whose translations are mostly empty.

    Args:
        bleu: the summary of each system's BLEU, the baseline first.
        uas: the summaries of the heads' accuracy, of the systems that have one.
        hypotheses: the folder of translations of every system and seed.
        pairs: the sentence pairs of the test.
        trees: heads and supertags of its source sentences.
        evaluation: the settings of BLEU.
        layout: names the system and the seed of each folder.
    """
    summaries, heads = ({own["system"]: own for own in map(read_json, paths)} for paths in (bleu, uas))
    first = next(iter(summaries.values()))
    split = next(iter(first["splits"]))
    (folders,) = runs_by_dataset(hypotheses, layout).values()
    outputs = read_outputs(folders, split)
    statistics = _counts(outputs, evaluation)
    sentences = len(statistics[first["system"]][0])
    groups = {"": np.arange(sentences), **construction_rows(pairs, trees, sentences=sentences)}
    compared = {name: _compare(statistics, rows_B, first["system"]) for name, rows_B in groups.items()}
    overall = compared.pop("")
    return {
        **{key: first[key] for key in ("dataset", "scale", "seeds")},
        "split": split,
        "sentences": sentences,
        "empty": list(empty_outputs(outputs, first["dataset"], split)),
        "signature": statistics[first["system"]][0].signature,
        "baseline": first["system"],
        "neighbour": neighbour_share(trees),
        "systems": [_system(own, heads.get(name), overall["systems"][name]) for name, own in summaries.items()],
        "constructions": [{"construction": name, **values} for name, values in compared.items()],
    }


def _counts(outputs: SplitOutputs, evaluation: Mapping[str, Any]) -> dict[str, list[SentenceCounts]]:
    """Count what BLEU is computed from, by system and seed."""
    settings = build(EvaluationSettings, evaluation, where="the demo")
    return {
        system: [METRICS["bleu"].count(lines, outputs.references, settings) for lines in seeds.values()]
        for system, seeds in outputs.translations.items()
    }


def _compare(statistics: Mapping[str, Sequence[SentenceCounts]], rows_B: np.ndarray, baseline: str) -> dict[str, Any]:
    """Score the systems on some sentences; of fewer than two there are no scores."""
    count = len(rows_B)
    if count < 2:
        return {"sentences": count, "systems": {name: None for name in statistics}}
    parts = {name: [seed.rows(rows_B) for seed in seeds] for name, seeds in statistics.items()}
    systems = {
        name: {"bleu": float(np.mean(own.scores)), "difference": own.difference and asdict(own.difference)}
        for name, own in compare_systems(parts, baseline=baseline).items()
    }
    return {"sentences": count, "systems": systems}


def _system(
    summary: Mapping[str, Any], heads: Mapping[str, Any] | None, compared: Mapping[str, Any] | None
) -> dict[str, Any]:
    test = next(iter(summary["splits"].values()))
    uas = None if heads is None else next(iter(heads["splits"].values()))["argmax"]["uas"]
    difference = compared and compared["difference"]
    return {
        "system": summary["system"], "bleu": test["bleu"], "chrf": test["chrf"], "uas": uas, "difference": difference
    }  # fmt: skip


def construction_rows(pairs: Path, trees: Path, *, sentences: int) -> dict[str, np.ndarray]:
    """Return the positions of a test's first sentences with each construction of the demo corpus, by its label.

    Phenomena are those for which the grammar makes a wrong translation; other constructions are found by the supertags
    of the source. A sentence may have several.
    """
    texts = [(row["source"], row["target"]) for row in read_rows(pairs, columns=["source", "target"], stop=sentences)]
    shown = dict(_phenomena())
    rows = {
        label: np.array([i for i, text in enumerate(texts) if phenomenon in shown.get(text, ())], dtype=np.int64)
        for phenomenon, label in PHENOMENON_LABELS.items()
    }
    by_supertag = read_subsets(trees, "ccg", sentences=sentences).rows
    return rows | {label: by_supertag[name] for name, label in CONSTRUCTION_LABELS.items()}


def _phenomena() -> Iterator[tuple[tuple[str, str], set[str]]]:
    """Yield the phenomena of each sentence of the demo corpus's test, by its text in both languages."""
    for entry in generate_contrasts(split="test", count=SIZES["test"]):
        phenomena = {wrong.phenomenon for wrong in entry.wrong} & set(PHENOMENA)
        yield (entry.pair.source.text, entry.pair.target.text), phenomena


def neighbour_share(trees: Path) -> dict[str, Any]:
    """Return which `word`, the next or the previous one, is the head of more words, and their `share` in percent."""
    heads = [row["head"] for row in read_rows(trees, columns=["head"])]
    offsets = [head - number for own in heads for number, head in enumerate(own or (), start=1) if head]
    words = max(1, sum(len(own or ()) for own in heads))
    shares = {word: 100 * offsets.count(offset) / words for word, offset in (("next", 1), ("previous", -1))}
    word = max(shares, key=lambda name: shares[name])
    return {"word": word, "share": shares[word]}
