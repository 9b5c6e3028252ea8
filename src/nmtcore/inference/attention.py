"""Attention weights of a model that reads and translates.

Shapes: B sentences, H heads, K keys, Q queries, S source.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from nmtcore.features.examples import Examples
from nmtcore.inference.batches import device_of, map_batches, with_targets
from nmtcore.inference.bundle import Bundle, load_bundle, new_model
from nmtcore.inference.schemas import ATTENTION_SCHEMA
from nmtcore.model.batch import Batch
from nmtcore.model.components.base import (
    AttentionHooks,
    AttentionInputs,
    Build,
    Component,
    Context,
    RecurrentComponent,
    Stack,
)
from nmtcore.model.losses import at_least_fp32
from nmtcore.parquet import RowWriter
from nmtcore.segmentation.vocabulary import EOS

T = TypeVar("T")

MAX_SENTENCES, MAX_CELLS = 64, 2**18
"""Per batch: sentences, and cells of the attention maps of one head (a paper's encoder has 48 heads)."""
BATCHES_IN_MEMORY = 4
"""Batches whose maps are in memory at the same time."""
DECIMALS = 4
"""Decimals of written weights, so that files are small: a weight has one of 10,001 values."""


class AttentionMaps(Component[dict[tuple[Stack, int], Tensor]]):
    """Records weights after the softmax in passes over whole sentences, but not in the steps of a search.

    No system contains this component: it is added after the components of a trained model to inspect it.
    """

    def __init__(self) -> None:
        super().__init__(None, Build(name="attention_maps"))

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Observe every layer that attends to the source."""
        if stack == "decoder":
            return None
        return AttentionHooks(observe=partial(self._observe, stack, layer))

    def _observe(self, stack: Stack, layer: int, inputs: AttentionInputs, scores_BHQK: Tensor) -> None:
        context = inputs.context
        if context.words_BS is not None:
            masked_BHQK = at_least_fp32(scores_BHQK).masked_fill(~context.mask_BS[:, None, None, :], float("-inf"))
            context.notes.setdefault(self.name, {})[stack, layer] = masked_BHQK.softmax(dim=-1)

    def maps(self, context: Context) -> dict[tuple[Stack, int], Tensor]:
        """Return the recorded weights (B, H, Q, K), fp32 or float64, by stack and layer."""
        return context.notes.get(self.name, {})


def load_observed_bundle(folder: Path, device: str | torch.device = "cpu") -> Bundle:
    """Load a model that records its attention weights; see `load_bundle`."""
    return observed(load_bundle(folder, device))


def observed(bundle: Bundle) -> Bundle:
    """Return a bundle whose model has the same weights, in the same memory, and records its attention weights."""
    model = new_model(bundle.run, bundle.vocabularies, bundle.labels, observers=[AttentionMaps()])
    model.to(device_of(bundle.model)).load_state_dict(bundle.model.state_dict(), assign=True)
    return replace(bundle, model=model)


def write_attention(
    writer: RowWriter, bundle: Bundle, examples: Examples, translations: Sequence[Sequence[int]]
) -> None:
    """Write the attention weights of `attention_rows` as `ATTENTION_SCHEMA`, rounded to `DECIMALS`."""
    for rows_of_examples in attention_rows(bundle, examples, translations):
        rows = [row for rows_of_example in rows_of_examples for row in rows_of_example]
        rounded = [row | {"weights": list(np.round(row["weights"], DECIMALS))} for row in rows]
        writer.write_batch(pa.RecordBatch.from_pylist(rounded, schema=ATTENTION_SCHEMA))


def attention_rows(
    bundle: Bundle, examples: Examples, translations: Sequence[Sequence[int]]
) -> Iterator[list[list[dict[str, Any]]]]:
    """Yield the attention weights of each example of batches as rows of `ATTENTION_SCHEMA`, `weights` as arrays (Q, K).

    `translations` are the ids of the examples' targets, without `</s>`, for the attention of the decoder. `bundle`
    comes from `load_observed_bundle`.
    """

    def work(observed: Observed) -> list[list[dict[str, Any]]]:
        maps = _maps(bundle, observed)
        sources = zip(observed.batch.source_BS, observed.context.mask_BS, strict=True)
        rows_of_examples = []
        for b, (row, (source_S, real_S)) in enumerate(zip(observed.rows_B, sources, strict=True)):
            source = bundle.vocabularies["source"].tokens(source_S[real_S].tolist())
            target = bundle.vocabularies["target"].tokens([*translations[row], EOS])
            key_words = observed.words_BS[b, : len(source)].tolist()
            common = {"id": examples.id[row], "keys": source, "key_words": key_words}
            rows_of_examples.append([])
            for name, layer, head, of_target, weights_BQK in maps:
                queries = target if of_target else source
                weights_QK = weights_BQK[b, : len(queries), : len(source)]
                of_map = {"attention": name, "layer": layer, "head": head, "queries": queries, "weights": weights_QK}
                rows_of_examples[-1].append(common | of_map)
        return rows_of_examples

    return observe(bundle, with_targets(examples, translations), work)


class Observed(NamedTuple):
    """An encoded batch of examples, whose attention has been recorded."""

    rows_B: np.ndarray
    """The batch's rows among the examples."""
    batch: Batch
    context: Context
    observer: AttentionMaps
    words_BS: np.ndarray
    """The word of the text (from 0) of every source position, `NO_WORD` for none."""

    @property
    def maps(self) -> dict[tuple[Stack, int], Tensor]:
        """The attention weights recorded so far (B, H, Q, K), by stack and layer."""
        return self.observer.maps(self.context)


def observe(bundle: Bundle, examples: Examples, work: Callable[[Observed], T]) -> Iterator[T]:
    """Yield what `work` returns for batches of examples, in order; targets, if there are any, are decoded.

    `bundle` comes from `load_observed_bundle`.
    """
    model = bundle.model
    (observer,) = (c for c in model.components if isinstance(c, AttentionMaps))

    def work_on(batch: Batch, rows_B: np.ndarray) -> T:
        context = model.encode(batch)
        if batch.target_input_BT is not None:
            model.decode(batch.target_input_BT, context)
        words_BS = bundle.transforms.text_words(context.words_BS.cpu().numpy())
        return work(Observed(rows_B, batch, context, observer, words_BS))

    batches = list(bounded_batches(examples.source.ids.lengths))
    for start in range(0, len(batches), BATCHES_IN_MEMORY):
        yield from map_batches(model, examples, batches[start : start + BATCHES_IN_MEMORY], work_on)


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


def _maps(bundle: Bundle, observed: Observed) -> list[tuple[str, int | None, int | None, bool, np.ndarray]]:
    """List attentions by name, layer and head, whether their queries are of the target, and weights (B, Q, K)."""
    maps = [
        (stack, layer, head, stack == "cross", weights_BHQK[:, head])
        for (stack, layer), weights_BHQK in observed.maps.items()
        for head in range(weights_BHQK.shape[1])
    ]
    recurrent = (component for component in bundle.model.components if isinstance(component, RecurrentComponent))
    notes = {component.name: component.note(observed.context) for component in recurrent}
    maps += [(name, None, None, False, note.source_weights_BSS) for name, note in notes.items()]
    maps += [(name, 0, 0, True, note.cross_weights_BTS) for name, note in notes.items()]
    return [(*names, weights.float().cpu().numpy()) for *names, weights in maps if weights is not None]
