"""Scores of COMET, whose model gives each sentence one in an environment of its own."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nmtcore.config.stages import ScoringSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.bleu import TEXT_NOTES
from nmtcore.evaluation.counts import SentenceCounts, checksum_of_test, share_of_counts, write_counts
from nmtcore.evaluation.scores import corpus_scores, output_files, write_scores
from nmtcore.files import read_json, read_lines, write_json
from nmtcore.layout import file_name
from nmtcore.parquet import read_rows


def write_comet_input(
    *, hypotheses: Path, corpora: Mapping[str, Path], checkpoint: Path, batch: int, device: str, output: Path
) -> None:
    """Write sources, translations and references of some splits, one after the other, for `run_comet.py` (JSON).

    Args:
        hypotheses: the folder of a run's translations and references.
        corpora: the sentence pairs of each split to score.
        checkpoint: the model.
        batch: sentences per batch.
        device: auto, cpu or cuda.
        output: path of the JSON file.
    """
    sentences = []
    for split, corpus in corpora.items():
        files = output_files(hypotheses, split)
        translations, references = read_lines(files.translations), read_lines(files.references)
        sources = [row["source"] for row in read_rows(corpus, columns=["source"], stop=len(references))]
        if not len(translations) == len(references) == len(sources):
            raise UserError(
                f"{files.translations} has {len(translations):,} lines for {len(references):,} references and "
                f"{len(sources):,} sources: delete {hypotheses} and run the workflow again."
            )
        texts = zip(sources, translations, references, strict=True)
        sentences += [{"src": source, "mt": translation, "ref": reference} for source, translation, reference in texts]
    write_json(output, {"checkpoint": str(checkpoint), "batch": batch, "device": device, "sentences": sentences})


def score_comet(
    settings: ScoringSettings, *, model: str, output: Path, hypotheses: Path, counts: Path, scores: Path
) -> list[str]:
    """Divide the scores that `run_comet.py` wrote among the splits; return their means as lines.

    Args:
        settings: the splits, in the order of `write_comet_input`.
        model: name of the model, for the signature.
        output: the scores (JSON), one for each sentence of all splits.
        hypotheses: the folder of the run's references.
        counts: folder for the counts of sentences (`write_counts`): each score and a 1.
        scores: path for the corpus scores of each split (JSON).
    """
    references = {split: read_lines(output_files(hypotheses, split).references) for split in settings.splits}
    result = read_json(output)
    values = _checked_scores(result, sum(map(len, references.values())), output)
    signature = f"COMET|model:{model}|version:{result['version']}{TEXT_NOTES[settings.evaluation.text]}"
    compared: dict[str, Any] = {}
    for split, lines in references.items():
        own, values = values[: len(lines)], values[len(lines) :]
        counted = SentenceCounts(
            counts_BF=np.stack([own, np.ones(len(own))], axis=1),
            score=share_of_counts,
            signature=signature,
            test=checksum_of_test(lines),
        )
        write_counts(counts / file_name("split_counts", split=split), {"comet": counted})
        compared[split] = corpus_scores("comet", counted)
    return write_scores(settings, {"comet": compared}, scores)


def comet_model_of(signature: str) -> str:
    """Return the name of the model in a signature of `score_comet`."""
    return next(part.removeprefix("model:") for part in signature.split("|") if part.startswith("model:"))


def _checked_scores(result: Mapping[str, Any], count: int, output: Path) -> list[float]:
    """Return the scores. Raises `UserError` if they are not one finite number per sentence."""
    values = result["scores"]
    if len(values) != count:
        raise UserError(f"{output} has {len(values):,} scores for {count:,} sentences: delete it and score again.")
    for i, value in enumerate(values):
        if not math.isfinite(value):
            raise UserError(f"{output}: the score of sentence {i} is {value}, not a number: check the model.")
    return values
