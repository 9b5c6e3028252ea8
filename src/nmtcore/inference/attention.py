"""What a model's heads look at while it reads and translates raw text, as Parquet for analysis.

B sentences of a batch, H heads, Q query tokens, S source tokens.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.features.transforms.chain import Transforms
from nmtcore.inference.beam import beam_search, length_limits
from nmtcore.inference.bundle import LINES_PER_CHUNK, Bundle, load_bundle
from nmtcore.inference.raw import clean_lines, grouped
from nmtcore.inference.sentence_batches import USE_CPU, device_of, map_batches
from nmtcore.model.batch import Batch, make_batch
from nmtcore.model.components.attention_maps import AttentionMaps
from nmtcore.model.components.base import Stack
from nmtcore.model.transformer import Encoded
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
"""A row a head of every sentence. `id` is the line (from 0), `part` counts the pieces of a very long one; `attention`
is "encoder" or "cross"; a row of `weights` belongs to a token of `queries` (in "cross", the one that is about to be
written), a column to one of `keys` (the source's tokens, whose words from 0 are `key_words`, -1 for none)."""

SENTENCES, CELLS = 64, 2**18
"""Of one batch at most: sentences, and cells of the maps of one head. A paper's model has 48 heads in the encoder."""

TOGETHER = 4
"""Batches whose maps are held at a time."""


def load_observed_bundle(folder: Path, device: str | torch.device = "cpu") -> Bundle:
    """Load a model whose heads are watched; see `load_bundle`."""
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
    """Write the weights of all heads over each line as `ATTENTION_SCHEMA`, in order; a line without words has none.

    With `cross` the model translates as well, and its attention to the source while it writes its best translation is
    beside that within the source. `bundle` is one of `load_observed_bundle`. Raises as `Bundle.translate_n_best`.
    """
    with bundle.reader(model_folders) as reader, row_writer(path, ATTENTION_SCHEMA) as writer:
        first = 0
        for texts in grouped(clean_lines(lines, where=where), LINES_PER_CHUNK):
            examples, line_of_part = reader.examples(texts)
            ids = np.array(line_of_part, dtype=np.int64) + first
            for found in _observed(bundle, replace(examples, id=ids), cross=cross):
                writer.write_batch(found)
            first += len(texts)


def _observed(bundle: Bundle, examples: Examples, *, cross: bool) -> Iterator[pa.RecordBatch]:
    parts = _parts(examples.id)

    def observed(rows: np.ndarray) -> pa.RecordBatch:
        return _watch(bundle, examples.take(rows), parts[rows], cross=cross)

    for some in grouped(bounded_batches(examples.source.ids.lengths), TOGETHER):
        yield from map_batches(bundle.model, some, observed, advice=USE_CPU)


def _parts(ids: np.ndarray) -> np.ndarray:
    """Count the examples of each line from 0."""
    starts = np.flatnonzero(np.diff(ids, prepend=-1))
    return np.arange(len(ids)) - np.repeat(starts, np.diff(starts, append=len(ids)))


def bounded_batches(lengths: np.ndarray) -> Iterator[np.ndarray]:
    """Cut rows, in order, into batches within `SENTENCES` and `CELLS`; one row at least."""
    start, longest = 0, 0
    for row, length in enumerate(lengths.tolist()):
        longest = max(longest, length)
        count = row - start + 1
        if count > 1 and (count > SENTENCES or count * longest**2 > CELLS):
            yield np.arange(start, row)
            start, longest = row, length
    if len(lengths):
        yield np.arange(start, len(lengths))


@dataclass(frozen=True, kw_only=True)
class ObservedBatch:
    """An encoded batch and what its heads looked at."""

    batch: Batch
    encoded: Encoded
    observer: AttentionMaps
    transforms: Transforms

    @property
    def maps(self) -> dict[tuple[Stack, int], Tensor]:
        """The weights (B, H, Q, S) up to now, by kind of attention and layer."""
        return self.observer.maps(self.encoded.context)

    @property
    def words_BS(self) -> np.ndarray:
        """The word of the text (from 0) of every column, `NO_WORD` for none."""
        return self.transforms.text_words(self.observer.words_BS(self.encoded.context).cpu().numpy())


def observe_batch(bundle: Bundle, examples: Examples) -> ObservedBatch:
    """Encode all examples as one batch with a model of `load_observed_bundle`."""
    model = bundle.model
    (observer,) = (c for c in model.components if isinstance(c, AttentionMaps))
    batch = make_batch(examples, np.arange(len(examples)), tuple(model.components), device_of(model))
    return ObservedBatch(batch=batch, encoded=model.encode(batch), observer=observer, transforms=bundle.transforms)


def _watch(bundle: Bundle, examples: Examples, parts: np.ndarray, *, cross: bool) -> pa.RecordBatch:
    """Run the model over one batch and lay out what its heads looked at."""
    seen = observe_batch(bundle, examples)
    batch = seen.batch
    written = _translate(bundle, examples, seen.encoded) if cross else [[]] * len(examples)
    words = seen.words_BS.tolist()
    maps = {place: weights.float().cpu().numpy() for place, weights in seen.maps.items()}
    rows = []
    for i, (source, real) in enumerate(zip(batch.source_BS, batch.source_mask_BS, strict=True)):
        keys = bundle.source_vocabulary.tokens(source[real].tolist())
        queries = {"encoder": keys, "cross": bundle.target_vocabulary.tokens(written[i])}
        common = {"id": examples.id[i], "part": parts[i], "keys": keys, "key_words": words[i][: len(keys)]}
        for (attention, layer), weights_BHQK in maps.items():
            of_layer = {**common, "attention": attention, "layer": layer, "queries": queries[attention]}
            for head, weights_QK in enumerate(weights_BHQK[i, :, : len(queries[attention]), : len(keys)]):
                rows.append({**of_layer, "head": head, "weights": weights_QK})
    return _record_batch(rows)


def _translate(bundle: Bundle, examples: Examples, encoded: Encoded) -> list[list[int]]:
    """Run the decoder over the best translations, so that its attention is noted; give what it writes."""
    settings, model, device = bundle.run.decoding, bundle.model, device_of(bundle.model)
    limits = torch.tensor(length_limits(settings, examples.source.ids.lengths.tolist()), device=device)
    found = beam_search(model, encoded, settings, limits_B=limits, n_best=1)
    tokens = [list(hypotheses[0].tokens) for hypotheses in found]
    ids = Ragged.from_lists(tokens, np.int32)
    target = SideExamples(ids=ids, word_of_subword=Ragged(np.zeros_like(ids.values), ids.offsets))
    forced = make_batch(replace(examples, target=target), np.arange(len(examples)), tuple(model.components), device)
    model.decode(forced.target_input_BT, encoded)
    return [[*sentence, EOS] for sentence in tokens]


def _record_batch(rows: Sequence[dict[str, Any]]) -> pa.RecordBatch:
    """Lay out rows as `ATTENTION_SCHEMA`; their weights are arrays (Q, S), which pyarrow takes flat only."""
    maps = [row["weights"] for row in rows]
    lines = pa.ListArray.from_arrays(
        _offsets([map_QK.shape[1] for map_QK in maps for _ in map_QK]),
        pa.array(np.concatenate([map_QK.ravel() for map_QK in maps])),
    )
    nested = pa.ListArray.from_arrays(_offsets([len(map_QK) for map_QK in maps]), lines)
    columns = [
        nested if field.name == "weights" else pa.array([row[field.name] for row in rows], field.type)
        for field in ATTENTION_SCHEMA
    ]
    return pa.RecordBatch.from_arrays(columns, schema=ATTENTION_SCHEMA)


def _offsets(lengths: Sequence[int]) -> pa.Array:
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
