"""Attention weights of a model that reads and translates, written as Parquet for analysis."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from nmtcore.config.training import DecodingSettings
from nmtcore.corpus.text_lines import clean_lines
from nmtcore.errors import UserError
from nmtcore.features.examples import Examples
from nmtcore.inference.batches import device_of, map_batches, with_targets
from nmtcore.inference.bundle import Bundle, load_bundle
from nmtcore.inference.raw import LINES_PER_CHUNK, grouped, grouped_texts
from nmtcore.inference.schemas import ATTENTION_SCHEMA
from nmtcore.inference.search import length_limits, search_batch
from nmtcore.model.base import Encoded
from nmtcore.model.batch import Batch, make_batch
from nmtcore.model.components.attention_maps import AttentionMaps
from nmtcore.model.components.base import Stack
from nmtcore.parquet import row_writer
from nmtcore.segmentation.vocabulary import EOS

T = TypeVar("T")

MAX_SENTENCES, MAX_CELLS = 64, 2**18
"""Per batch: sentences, and cells of the attention maps of one head (a paper's encoder has 48 heads)."""

BATCHES_IN_MEMORY = 4
"""Batches whose maps are in memory at the same time."""

DECIMALS = 4
"""Decimals of the weights of examples, so that files are small: a weight has one of 10,001 values."""


def load_observed_bundle(folder: Path, device: str | torch.device = "cpu") -> Bundle:
    """Load a model that records its attention weights; see `load_bundle`."""
    return load_bundle(folder, device, observers=[AttentionMaps()])


def write_attention(
    path: Path,
    bundle: Bundle,
    lines: Iterable[str | bytes],
    *,
    cross: bool = False,
    where: str = "standard input",
    model_folders: Sequence[Path] = (),
) -> None:
    """Write the attention weights of all heads as `ATTENTION_SCHEMA`, line by line; lines without words have no rows.

    With `cross`, also translate each line, and write the attention of its best translation to the source. `bundle`
    comes from `load_observed_bundle`. Raises the errors of `Bundle.translate_lines`, and `UserError` without `cross`
    if the encoder has no attention.
    """
    if not cross and not bundle.model.encoder_attention[0]:
        raise UserError(
            f"The system {bundle.run.system} is {bundle.run.base}: its encoder has no attention heads. Add --cross to "
            "write the attention of the decoder to the source."
        )
    with bundle.reader(model_folders) as reader, row_writer(path, ATTENTION_SCHEMA) as writer:
        for first, texts in grouped_texts(clean_lines(lines, where=where), LINES_PER_CHUNK, characters=len):
            examples, line_of_part = reader.examples(texts)
            examples = replace(examples, id=np.array(line_of_part, dtype=np.int64) + first)
            for rows in _written_rows(bundle, examples, bundle.search_settings() if cross else None):
                writer.write_batch(rows)


def write_attention_of_examples(path: Path, bundle: Bundle, examples: Examples, decoding: DecodingSettings) -> None:
    """Write the attention weights of all heads on examples as `ATTENTION_SCHEMA`, rounded to `DECIMALS`.

    Each example is translated once with `decoding`, for the attention of the decoder to the source. `bundle` comes from
    `load_observed_bundle`.
    """
    with row_writer(path, ATTENTION_SCHEMA) as writer:
        for rows in _written_rows(bundle, examples, bundle.search_settings(decoding), decimals=DECIMALS):
            writer.write_batch(rows)


def _written_rows(
    bundle: Bundle, examples: Examples, settings: DecodingSettings | None, *, decimals: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of batches of examples, which are also translated if there are `settings` of the search."""
    part_numbers = _part_numbers(examples.id)

    def work(observed: "ObservedBatch", rows_B: np.ndarray) -> pa.RecordBatch:
        translations = None if settings is None else observed.best_translations(settings)
        rows = [row for own in _rows_of_examples(observed, part_numbers[rows_B], translations) for row in own]
        for row in rows:
            weights_QK = row["weights"] if decimals is None else np.round(row["weights"], decimals)
            row["weights"] = list(weights_QK)
        return pa.RecordBatch.from_pylist(rows, schema=ATTENTION_SCHEMA)

    return observe(bundle, examples, work)


def attention_of_translations(
    bundle: Bundle, examples: Examples, translations: Sequence[Sequence[int]]
) -> Iterator[list[dict[str, Any]]]:
    """Yield the attention weights of each example as rows of `ATTENTION_SCHEMA`, always with those of the decoder.

    `translations` are the ids of the examples' targets, without `</s>`; `weights` are arrays (Q, K). `bundle` comes
    from `load_observed_bundle`.
    """
    part_numbers = _part_numbers(examples.id)

    def work(observed: "ObservedBatch", rows_B: np.ndarray) -> list[list[dict[str, Any]]]:
        return _rows_of_examples(observed, part_numbers[rows_B], [translations[row] for row in rows_B])

    for rows in observe(bundle, examples, work):
        yield from rows


def _part_numbers(ids: np.ndarray) -> np.ndarray:
    """Number the examples of each line from 0; `ids` are their lines, in ascending order."""
    starts = np.flatnonzero(np.diff(ids, prepend=-1))
    return np.arange(len(ids)) - np.repeat(starts, np.diff(starts, append=len(ids)))


@dataclass(frozen=True, kw_only=True)
class ObservedBatch:
    """An encoded batch of examples and its recorded attention."""

    bundle: Bundle
    examples: Examples
    batch: Batch
    encoded: Encoded
    observer: AttentionMaps

    @property
    def maps(self) -> dict[tuple[Stack, int], Tensor]:
        """The attention weights recorded so far (B, H, Q, K), by stack and layer."""
        return self.observer.maps(self.encoded.context)

    @property
    def source_weights(self) -> dict[str, Tensor]:
        """The weights (B, S, S) of components with weights of their own, by the component's name."""
        weights = {c.name: c.source_weights(self.encoded.context) for c in self.bundle.model.components}
        return {name: weights_BSS for name, weights_BSS in weights.items() if weights_BSS is not None}

    @property
    def cross_weights(self) -> dict[str, Tensor]:
        """The weights (B, T, S) of components with an attention of their own in the decoder, by the component's name.

        Only after a pass over whole targets.
        """
        notes = self.encoded.context.notes
        weights = {c.name: notes.get(f"{c.name}.cross_weights") for c in self.bundle.model.components}
        return {name: weights_BTS for name, weights_BTS in weights.items() if weights_BTS is not None}

    @property
    def words_BS(self) -> np.ndarray:
        """The word of the text (from 0) of every source position, `NO_WORD` for none."""
        words_BS = self.encoded.context.words_BS.cpu().numpy()
        return self.bundle.transforms.text_words(words_BS)

    def best_translations(self, settings: DecodingSettings) -> list[Sequence[int]]:
        """Search for the best translations, as ids without `</s>`."""
        limits = length_limits(settings, self.examples.source.subword_counts.tolist())
        limits_B = torch.tensor(limits, device=device_of(self.bundle.model))
        n_best_lists = search_batch(self.bundle.model, self.encoded, settings, limits_B=limits_B, scores=False)
        return [hypotheses[0].tokens for hypotheses in n_best_lists]

    def force(self, translations: Sequence[Sequence[int]]) -> None:
        """Pass translations through the decoder, so that their attention is recorded."""
        model, pairs = self.bundle.model, with_targets(self.examples, translations)
        forced = make_batch(pairs, np.arange(len(pairs)), tuple(model.components), device_of(model))
        model.decode(forced.target_input_BT, self.encoded)


def observe(bundle: Bundle, examples: Examples, work: Callable[[ObservedBatch, np.ndarray], T]) -> Iterator[T]:
    """Yield what `work` returns for batches of examples and their rows (B), in order.

    `bundle` comes from `load_observed_bundle`.
    """
    model, components = bundle.model, tuple(bundle.model.components)
    (observer,) = (c for c in components if isinstance(c, AttentionMaps))

    def work_on(rows_B: np.ndarray) -> T:
        batch = make_batch(examples, rows_B, components, device_of(model))
        observed = ObservedBatch(
            bundle=bundle,
            examples=examples.take(rows_B),
            batch=batch,
            encoded=model.encode(batch),
            observer=observer,
        )
        return work(observed, rows_B)

    for batches in grouped(bounded_batches(examples.source.ids.lengths), BATCHES_IN_MEMORY):
        yield from map_batches(model, batches, work_on)


def bounded_batches(lengths: np.ndarray) -> Iterator[np.ndarray]:
    """Cut rows, in order, into batches within `MAX_SENTENCES` and `MAX_CELLS`; a batch has at least one row."""
    start, longest = 0, 0
    for row, length in enumerate(lengths.tolist()):
        longest = max(longest, length)
        count = row - start + 1
        if count > 1 and (count > MAX_SENTENCES or count * longest**2 > MAX_CELLS):
            yield np.arange(start, row)
            start, longest = row, length
    if len(lengths):
        yield np.arange(start, len(lengths))


def _rows_of_examples(
    observed: ObservedBatch, part_numbers: np.ndarray, translations: Sequence[Sequence[int]] | None
) -> list[list[dict[str, Any]]]:
    """Lay out attention weights as rows of each example; the decoder's are those of `translations`, without `</s>`."""
    bundle, batch = observed.bundle, observed.batch
    if translations is not None:
        observed.force(translations)
    maps: list[tuple[str, int | None, int | None, bool, np.ndarray]] = []  # the flag: the queries are of the target
    for (stack, layer), weights_BHQK in observed.maps.items():
        heads = enumerate(_array(weights_BHQK).swapaxes(0, 1))
        maps += [(stack, layer, head, stack == "cross", weights_BQK) for head, weights_BQK in heads]
    maps += [(name, None, None, False, _array(weights_BSS)) for name, weights_BSS in observed.source_weights.items()]
    maps += [(name, 0, 0, True, _array(weights_BTS)) for name, weights_BTS in observed.cross_weights.items()]
    words = observed.words_BS.tolist()
    rows_of_examples = []
    for b, (source_S, real_S) in enumerate(zip(batch.source_BS, batch.source_mask_BS, strict=True)):
        source = bundle.source_vocabulary.tokens(source_S[real_S].tolist())
        target = bundle.target_vocabulary.tokens([] if translations is None else [*translations[b], EOS])
        rows = []
        for name, layer, head, of_target, weights_BQK in maps:
            queries = target if of_target else source
            row = {"id": observed.examples.id[b], "part": part_numbers[b], "attention": name, "layer": layer}
            row |= {"head": head, "queries": queries, "keys": source, "key_words": words[b][: len(source)]}
            rows.append({**row, "weights": weights_BQK[b, : len(queries), : len(source)]})
        rows_of_examples.append(rows)
    return rows_of_examples


def _array(weights: Tensor) -> np.ndarray:
    return weights.float().cpu().numpy()
