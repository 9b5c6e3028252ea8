"""Attention weights of a model that reads and translates, written as Parquet for analysis."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from nmtcore.config.training import DecodingSettings
from nmtcore.corpus.text_lines import clean_lines
from nmtcore.errors import UserError
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.features.transforms.chain import Transforms
from nmtcore.inference.beam import beam_search
from nmtcore.inference.bundle import LINES_PER_CHUNK, Bundle, load_bundle
from nmtcore.inference.hypotheses import length_limits
from nmtcore.inference.raw import grouped, grouped_texts
from nmtcore.inference.sentence_batches import USE_CPU, device_of, map_batches
from nmtcore.model.base import Encoded
from nmtcore.model.batch import Batch, make_batch
from nmtcore.model.components.attention_maps import AttentionMaps
from nmtcore.model.components.base import Component, Stack
from nmtcore.parquet import row_writer
from nmtcore.segmentation.vocabulary import EOS

ATTENTION_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("part", pa.int32()),
        ("attention", pa.string()),
        ("layer", pa.int32()),
        ("head", pa.int32()),
        ("queries", pa.list_(pa.string())),
        ("keys", pa.list_(pa.string())),
        ("key_words", pa.list_(pa.int32())),
        ("weights", pa.list_(pa.list_(pa.float32()))),
    ]
)
"""One row per sentence, layer and head. `id` is the line (from 0); `part` counts the parts of a very long line.
`attention` is "encoder" or "cross". `keys` are the source tokens, and `key_words` their words (from 0, -1 for none).
`weights` has one row per token of `queries` and one column per token of `keys`. The queries of "cross" are the target
tokens about to be generated. A recurrent model has no rows "encoder", and its decoder one layer and head.

A component with weights of its own (`Component.source_weights`) adds one row per sentence, where `attention` is its
name, `layer` and `head` are null, and the queries are the source tokens: for `head_selection` the dependents, whose
heads are the keys. A token's weight for itself is that of the root, and `</s>`, which has no head, has zeros.

A component with an attention of its own in a recurrent decoder (`Component.cross_weights`) also adds one row per
sentence that is like those of "cross": `attention` is the component's name, `layer` and `head` are 0, and the queries
are the target tokens. `head_selection` with `annotations: separate` has it, over the expected heads of the keys."""

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
    comes from `load_observed_bundle`. Raises the errors of `Bundle.translate_n_best`, and `UserError` without `cross`
    if the encoder has no attention.
    """
    if not cross and not bundle.model.encoder_attention[0]:
        raise UserError(
            f"The system {bundle.run.system} is {bundle.run.base}: its encoder has no attention heads. Add --cross to "
            "write the attention of the decoder to the source."
        )
    with bundle.reader(model_folders) as reader, row_writer(path, ATTENTION_SCHEMA) as writer:
        first = 0
        for texts in grouped_texts(clean_lines(lines, where=where), LINES_PER_CHUNK, characters=len):
            examples, line_of_part = reader.examples(texts)
            ids = np.array(line_of_part, dtype=np.int64) + first
            for rows in _chunk_rows(bundle, replace(examples, id=ids), cross=cross):
                writer.write_batch(rows)
            first += len(texts)


def write_attention_of_examples(path: Path, bundle: Bundle, examples: Examples, decoding: DecodingSettings) -> None:
    """Write the attention weights of all heads on examples as `ATTENTION_SCHEMA`, rounded to `DECIMALS`.

    Each example is translated once with `decoding`, for the attention of the decoder to the source. `bundle` comes from
    `load_observed_bundle`.
    """
    with row_writer(path, ATTENTION_SCHEMA) as writer:
        for rows in _chunk_rows(bundle, examples, cross=True, decoding=decoding, decimals=DECIMALS):
            writer.write_batch(rows)


def attention_of_translations(
    bundle: Bundle, examples: Examples, translations: Sequence[Sequence[int]]
) -> Iterator[list[dict[str, Any]]]:
    """Yield the attention weights of each example as rows of `ATTENTION_SCHEMA`, always with those of the decoder.

    `translations` are the ids of the examples' targets, without `</s>`; `weights` are arrays (Q, K). `bundle` comes
    from `load_observed_bundle`.
    """
    part_numbers = _part_numbers(examples.id)

    def batch_rows(rows: np.ndarray) -> list[list[dict[str, Any]]]:
        chosen = examples.take(rows)
        observed = observe_batch(bundle, chosen)
        targets = _force_translations(bundle, chosen, observed.encoded, [translations[row] for row in rows])
        return _rows_of_examples(bundle, chosen, part_numbers[rows], observed, targets)

    for batches in grouped(bounded_batches(examples.source.ids.lengths), BATCHES_IN_MEMORY):
        for rows in map_batches(bundle.model, batches, batch_rows, advice=USE_CPU):
            yield from rows


def _chunk_rows(
    bundle: Bundle,
    examples: Examples,
    *,
    cross: bool,
    decoding: DecodingSettings | None = None,
    decimals: int | None = None,
) -> Iterator[pa.RecordBatch]:
    part_numbers = _part_numbers(examples.id)
    search = bundle.search_settings(decoding)

    def batch_rows(rows: np.ndarray) -> pa.RecordBatch:
        chosen = examples.take(rows)
        return _batch_rows(bundle, chosen, part_numbers[rows], search=search if cross else None, decimals=decimals)

    for batches in grouped(bounded_batches(examples.source.ids.lengths), BATCHES_IN_MEMORY):
        yield from map_batches(bundle.model, batches, batch_rows, advice=USE_CPU)


def _part_numbers(ids: np.ndarray) -> np.ndarray:
    """Number the examples of each line from 0; `ids` are their lines, in ascending order."""
    starts = np.flatnonzero(np.diff(ids, prepend=-1))
    return np.arange(len(ids)) - np.repeat(starts, np.diff(starts, append=len(ids)))


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


@dataclass(frozen=True, kw_only=True)
class ObservedBatch:
    """An encoded batch and its recorded attention."""

    batch: Batch
    encoded: Encoded
    observer: AttentionMaps
    components: Sequence[Component]
    transforms: Transforms

    @property
    def maps(self) -> dict[tuple[Stack, int], Tensor]:
        """The attention weights recorded so far (B, H, Q, K), by stack and layer."""
        return self.observer.maps(self.encoded.context)

    @property
    def source_weights(self) -> dict[str, Tensor]:
        """The weights (B, S, S) of components with weights of their own, by the component's name."""
        weights = {c.name: c.source_weights(self.encoded.context) for c in self.components}
        return {name: weights_BSS for name, weights_BSS in weights.items() if weights_BSS is not None}

    @property
    def cross_weights(self) -> dict[str, Tensor]:
        """The weights (B, T, S) of components with an attention of their own in the decoder, by the component's name.

        Only after a pass over whole targets.
        """
        notes = {c.name: self.encoded.context.notes.get(f"{c.name}.cross_weights") for c in self.components}
        return {name: weights_BTS for name, weights_BTS in notes.items() if weights_BTS is not None}

    @property
    def words_BS(self) -> np.ndarray:
        """The word of the text (from 0) of every source position, `NO_WORD` for none."""
        return self.transforms.text_words(self.observer.words_BS(self.encoded.context).cpu().numpy())


def observe_batch(bundle: Bundle, examples: Examples) -> ObservedBatch:
    """Encode all examples as one batch; `bundle` comes from `load_observed_bundle`."""
    model, components = bundle.model, tuple(bundle.model.components)
    (observer,) = (c for c in components if isinstance(c, AttentionMaps))
    batch = make_batch(examples, np.arange(len(examples)), components, device_of(model))
    return ObservedBatch(
        batch=batch,
        encoded=model.encode(batch),
        observer=observer,
        components=components,
        transforms=bundle.transforms,
    )


def _batch_rows(
    bundle: Bundle,
    examples: Examples,
    part_numbers: np.ndarray,
    *,
    search: DecodingSettings | None,
    decimals: int | None,
) -> pa.RecordBatch:
    """Run the model over one batch and lay out the attention weights as rows; with `search`, translate it as well."""
    observed = observe_batch(bundle, examples)
    targets = [[]] * len(examples)
    if search is not None:
        translations = _best_translations(bundle, examples, observed.encoded, search)
        targets = _force_translations(bundle, examples, observed.encoded, translations)
    rows = [row for own in _rows_of_examples(bundle, examples, part_numbers, observed, targets) for row in own]
    if decimals is not None:
        rows = [{**row, "weights": np.round(row["weights"], decimals)} for row in rows]
    return _record_batch(rows)


def _rows_of_examples(
    bundle: Bundle,
    examples: Examples,
    part_numbers: np.ndarray,
    observed: ObservedBatch,
    targets: Sequence[Sequence[int]],
) -> list[list[dict[str, Any]]]:
    """Lay out the recorded attention weights as rows of each example; `targets` are ids with `</s>`."""
    batch = observed.batch
    words = observed.words_BS.tolist()
    maps = {layer: weights_BHQK.float().cpu().numpy() for layer, weights_BHQK in observed.maps.items()}
    own_weights = {name: weights_BSS.float().cpu().numpy() for name, weights_BSS in observed.source_weights.items()}
    own_cross = {name: weights_BTS.float().cpu().numpy() for name, weights_BTS in observed.cross_weights.items()}
    rows_of_examples = []
    for b, (source_S, real_S) in enumerate(zip(batch.source_BS, batch.source_mask_BS, strict=True)):
        rows = []
        keys = bundle.source_vocabulary.tokens(source_S[real_S].tolist())
        queries = {"encoder": keys, "cross": bundle.target_vocabulary.tokens(targets[b])}
        sentence = {"id": examples.id[b], "part": part_numbers[b], "keys": keys, "key_words": words[b][: len(keys)]}
        for (stack, layer), weights_BHQK in maps.items():
            common = {**sentence, "attention": stack, "layer": layer, "queries": queries[stack]}
            for head, weights_QK in enumerate(weights_BHQK[b, :, : len(queries[stack]), : len(keys)]):
                rows.append({**common, "head": head, "weights": weights_QK})
        for name, weights_BSS in own_weights.items():
            common = {**sentence, "attention": name, "layer": None, "head": None, "queries": keys}
            rows.append({**common, "weights": weights_BSS[b, : len(keys), : len(keys)]})
        for name, weights_BTS in own_cross.items():
            tokens = queries["cross"]
            common = {**sentence, "attention": name, "layer": 0, "head": 0, "queries": tokens}
            rows.append({**common, "weights": weights_BTS[b, : len(tokens), : len(keys)]})
        rows_of_examples.append(rows)
    return rows_of_examples


def _best_translations(
    bundle: Bundle, examples: Examples, encoded: Encoded, settings: DecodingSettings
) -> list[list[int]]:
    """Search for the best translations, as ids without `</s>`."""
    device = device_of(bundle.model)
    limits_B = torch.tensor(length_limits(settings, examples.source.subword_counts.tolist()), device=device)
    n_best_lists = beam_search(bundle.model, encoded, settings, limits_B=limits_B, scores=False)
    return [list(hypotheses[0].tokens) for hypotheses in n_best_lists]


def _force_translations(
    bundle: Bundle, examples: Examples, encoded: Encoded, translations: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Pass translations through the decoder, so that their attention is recorded; return them with `</s>`."""
    model, pairs = bundle.model, with_targets(examples, translations)
    forced = make_batch(pairs, np.arange(len(examples)), tuple(model.components), device_of(model))
    model.decode(forced.target_input_BT, encoded)
    return [[*tokens, EOS] for tokens in translations]


def with_targets(examples: Examples, translations: Sequence[Sequence[int]]) -> Examples:
    """Replace the targets of examples by translations, as ids without `</s>`; all their subwords are of one word."""
    ids = Ragged.from_lists(translations, np.int32)
    return replace(
        examples, target=SideExamples(ids=ids, word_of_subword=Ragged(np.zeros_like(ids.values), ids.offsets))
    )


def _record_batch(rows: Sequence[dict[str, Any]]) -> pa.RecordBatch:
    """Lay out rows as `ATTENTION_SCHEMA`; pyarrow takes their weights, arrays (Q, K), only as flat arrays."""
    maps = [row["weights"] for row in rows]
    map_rows = pa.ListArray.from_arrays(
        _list_offsets([map_QK.shape[1] for map_QK in maps for _ in map_QK]),
        pa.array(np.concatenate([map_QK.ravel() for map_QK in maps])),
    )
    weights = pa.ListArray.from_arrays(_list_offsets([len(map_QK) for map_QK in maps]), map_rows)
    columns = [
        weights if field.name == "weights" else pa.array([row[field.name] for row in rows], field.type)
        for field in ATTENTION_SCHEMA
    ]
    return pa.RecordBatch.from_arrays(columns, schema=ATTENTION_SCHEMA)


def _list_offsets(lengths: Sequence[int]) -> pa.Array:
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
