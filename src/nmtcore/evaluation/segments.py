"""Segment scores: one score per sentence, by a metric whose model runs in an environment of its own (COMET)."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nmtcore.config.stages import ScoringSettings
from nmtcore.errors import UserError, explain_os_errors
from nmtcore.evaluation.bleu import TEXT_NOTES
from nmtcore.evaluation.counts import SentenceCounts, share_of_counts
from nmtcore.evaluation.scores import corpus_scores, output_files, write_scores
from nmtcore.files import read_json, read_lines, write_json
from nmtcore.layout import file_name
from nmtcore.parquet import open_file, read_batches, read_rows, write_rows

SEGMENT_SCHEMA = pa.schema([("id", pa.int64()), ("score", pa.float64())])
"""`comet/{split}.parquet`, one row per sentence in the split's order; the file's metadata has the `signature`."""


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
    settings: ScoringSettings,
    *,
    model: str,
    output: Path,
    corpora: Mapping[str, Path],
    hypotheses: Path,
    segments: Path,
    scores: Path,
) -> list[str]:
    """Divide the scores that `run_comet.py` wrote among the splits; return their means as lines.

    Args:
        settings: the splits, in the order of `write_comet_input`.
        model: name of the model, for the signature.
        output: the scores (JSON), one for each sentence of all splits.
        corpora: the sentence pairs of each split.
        hypotheses: the folder of the run's references.
        segments: folder for the segment scores, `{split}.parquet`.
        scores: path for the corpus scores of each split (JSON).
    """
    ids = {
        split: _first_ids(corpus, len(read_lines(output_files(hypotheses, split).references)))
        for split, corpus in corpora.items()
    }
    result = read_json(output)
    values = _checked_scores(result, sum(map(len, ids.values())), output)
    signature = f"COMET|model:{model}|version:{result['version']}{TEXT_NOTES[settings.evaluation.text]}"
    with explain_os_errors(segments):
        segments.mkdir(parents=True, exist_ok=True)
    compared: dict[str, Any] = {}
    for split, split_ids in ids.items():
        own, values = values[: len(split_ids)], values[len(split_ids) :]
        path = segments / file_name("comet_segments", split=split)
        rows = ({"id": i, "score": score} for i, score in zip(split_ids, own, strict=True))
        write_rows(path, SEGMENT_SCHEMA.with_metadata({"signature": signature}), rows)
        compared[split] = corpus_scores("comet", segment_counts(path))
    return write_scores(settings, {"comet": compared}, scores)


def comet_model_of(signature: str) -> str:
    """Return the name of the model in a signature of `score_comet`."""
    return next(part.removeprefix("model:") for part in signature.split("|") if part.startswith("model:"))


def _first_ids(corpus: Path, count: int) -> list[int]:
    return [row["id"] for row in read_rows(corpus, columns=["id"], stop=count)]


def _checked_scores(result: Mapping[str, Any], count: int, output: Path) -> list[float]:
    """Return the scores. Raises `UserError` if they are not one finite number per sentence."""
    values = result["scores"]
    if len(values) != count:
        raise UserError(f"{output} has {len(values):,} scores for {count:,} sentences: delete it and score again.")
    for i, value in enumerate(values):
        if not math.isfinite(value):
            raise UserError(f"{output}: the score of sentence {i} is {value}, not a number: check the model.")
    return values


def segment_counts(path: Path) -> SentenceCounts:
    """Read segment scores (`SEGMENT_SCHEMA`) as counts, which intervals and tests of any metric apply to.

    Raises `UserError` if the file has no signature, because it was not written by `score_comet`.
    """
    with open_file(path) as file:
        signature = (file.schema_arrow.metadata or {}).get(b"signature")
    if signature is None:
        raise UserError(f"{path} has no signature, so it is no file of segment scores: delete it and score again.")
    batches = [batch.column("score").to_numpy() for batch in read_batches(path, columns=["score"])]
    scores_B = np.concatenate([np.empty(0), *batches])
    counts_BF = np.stack([scores_B, np.ones(len(scores_B))], axis=1)
    return SentenceCounts(counts_BF=counts_BF, score=share_of_counts, signature=signature.decode())
