"""Parsing of source sentences: with the heads that a model was trained to parse with, or with any attention head.

Shapes: B sentences, S source, U nodes, W words.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import torch

from nmtcore.config.training import DecodingSettings
from nmtcore.errors import DivergedError, UserError
from nmtcore.features.examples import Examples
from nmtcore.features.sources import Sources
from nmtcore.inference.attention import Observed, observe
from nmtcore.inference.batches import in_batches
from nmtcore.inference.bundle import Bundle
from nmtcore.inference.schemas import PARSE_METHODS, Parse, ParseMethod
from nmtcore.inference.search import Hypothesis, translate_examples
from nmtcore.inference.text import LINES_PER_CHUNK, InputSentence
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import Batch, tree_scores
from nmtcore.model.components.base import Component
from nmtcore.syntax.annotation import Annotation, conllu_sentence
from nmtcore.syntax.spanning_tree import maximum_spanning_tree
from nmtcore.syntax.trees import heads_of

_HEAD_COLUMN = 6
"""The index of the head's column in CoNLL-U."""

Parser = Callable[[Examples], Sequence[np.ndarray]]
"""Returns the heads of the words of every example, in order: 1-based, 0 = root."""


def parse_of(scores: np.ndarray, *, to_root: bool, methods: Collection[ParseMethod] = PARSE_METHODS) -> Parse:
    """Decode scores into heads: (W, 1 + W) with the root in column 0 if `to_root`, else (W, W).

    The argmax is always computed, the trees only if they are among `methods`. Raises `DivergedError` for NaN and +inf,
    the scores of a model that diverged.
    """
    if np.isnan(scores).any() or np.isposinf(scores).any():
        raise DivergedError(
            "The model cannot be used, since its scores of heads are not finite: training diverged. Lower "
            "training.schedule.peak, raise training.schedule.warmup or set training.clip_norm, and train it again."
        )
    argmax = scores.argmax(axis=1) if len(scores) else np.zeros(0, dtype=np.int64)
    if not to_root:
        return Parse(argmax=heads_of(argmax))
    trees = {
        name: maximum_spanning_tree(scores, single_root=name == "one_root") if len(scores) else argmax
        for name in ("one_root", "many_roots")
        if name in methods
    }
    return Parse(argmax=argmax, **trees)


def parse_examples(
    model: TranslationModel,
    examples: Examples,
    *,
    methods: Collection[ParseMethod] = PARSE_METHODS,
    batch_sentences: int | None = None,
) -> list[Parse]:
    """Parse the source sentences, in order, with a model that has a `parser`."""

    def work(batch: Batch, rows_B: np.ndarray) -> list[Parse]:
        scores = model.parser.parse_scores(model.encode(batch))
        return [
            parse_of(sentence_scores, to_root=model.parser.points_to_root, methods=methods)
            for sentence_scores in scores
        ]

    return in_batches(model, replace(examples, target=None), work, sentences=batch_sentences)


def translate_and_parse(
    model: TranslationModel, examples: Examples, settings: DecodingSettings
) -> tuple[list[list[Hypothesis]], list[Parse] | None]:
    """Translate sentences, without scores, and parse them if the model can.

    Returns the hypotheses of every sentence, as `translate_examples` does, and its parse; None for all parses if the
    model does not parse.
    """
    translations = translate_examples(model, examples, settings, scores=False)
    parses = parse_examples(model, examples, batch_sentences=settings.batch_sentences) if model.parser else None
    return translations, parses


def parses_of_all(sources: Sources, parses: Sequence[Parse], *, to_root: bool) -> list[Parse]:
    """Return the parse of each sentence, given those of the examples, with the trees if `to_root`."""
    methods = PARSE_METHODS if to_root else PARSE_METHODS[:1]
    heads = [sources.heads_of_all(parse[method] for parse in parses) for method in methods]
    return [
        Parse(**dict(zip(methods, heads_of_sentence, strict=True))) for heads_of_sentence in zip(*heads, strict=True)
    ]


def layer_and_head(text: str) -> tuple[int, int]:
    """Read the name of an attention head of the encoder, LAYER.HEAD. Raises `UserError`."""
    if not re.fullmatch(r"[0-9]+\.[0-9]+", text):
        raise UserError(f"{text} is not of the form LAYER.HEAD, for example 0.3 (both count from 0).")
    layer, head = text.split(".")
    return int(layer), int(head)


def make_parser(bundle: Bundle, method: ParseMethod, *, attention: tuple[int, int] | None = None) -> Parser:
    """Make a parser of the heads that a model was trained to parse with, or of one attention head of its encoder.

    `attention` is the layer and the head, both from 0; `bundle` then comes from `load_observed_bundle`. Raises
    `UserError` if the model does not parse, has no root for the trees of `method`, or has no such head.
    """
    model, (layers, heads) = bundle.model, bundle.model.encoder_attention
    if attention is not None:
        if attention not in product(range(layers), range(heads)):
            raise UserError(
                f"The encoder of the system {bundle.run.system} has no attention head {attention[0]}.{attention[1]}: "
                f"it has {layers} layers with {heads} heads, and both count from 0."
            )
        return lambda examples: parse_with_heads(bundle, examples, method=method, only=attention)[attention]
    if model.parser is None:
        induce = ", or induce trees from an attention head, for example --attention 0.0" if layers else ""
        raise UserError(
            f"The system {bundle.run.system} does not parse: none of its heads was trained to. Use a model of another "
            f"system, for example depparse_l1{induce}."
        )
    if method != "argmax" and not model.parser.points_to_root:
        raise UserError(
            f"The system {bundle.run.system} has no artificial root, so its heads do not form trees: add --argmax."
        )
    options = {"methods": [method], "batch_sentences": bundle.run.decoding.batch_sentences}
    return lambda examples: [parse[method] for parse in parse_examples(model, examples, **options)]


def parse_with_heads(
    bundle: Bundle, examples: Examples, *, method: ParseMethod, only: tuple[int, int] | None = None
) -> dict[tuple[int, int], list[np.ndarray]]:
    """Parse every example with every attention head of the encoder, or one, in one pass of the model per batch.

    Returns the heads of words by layer and head, with the scores of `_tree_scores`; nothing for an encoder without
    attention. `bundle` comes from `load_observed_bundle`.
    """
    by_name = {component.name: component for component in bundle.model.components}
    parsers = {head: by_name[name] for head, name in bundle.run.claimed_heads.items()}
    heads = [only] if only else list(product(*map(range, bundle.model.encoder_attention)))

    def work(observed: Observed) -> list[list[np.ndarray]]:
        """Return the trees of the sentences of a batch: a list per head."""
        return [
            [parse_of(scores_WU, to_root=True, methods=[method])[method] for scores_WU in sentences]
            for sentences in (
                _tree_scores(observed, layer, head, parsers.get(f"{layer}.{head}")) for layer, head in heads
            )
        ]

    batches = list(observe(bundle, examples, work))
    return {head: [tree for batch in batches for tree in batch[n]] for n, head in enumerate(heads)}


def _tree_scores(observed: Observed, layer: int, head: int, component: Component | None) -> list[np.ndarray]:
    """Score the heads of words, and words as roots, by an attention head: (W, 1 + W) for each sentence.

    A head with which the model parses (`depparse`, `sisa`, `tree_head`), by a `component`, has the scores that it
    parses with: if `<ROOT>` stands before the source, it is the root. Any other head is read as in tran2018: a word
    attends to its head, its attention to itself is its score as the root, and weights are summed within words.
    """
    if component and component.parses and component.points_to_root:
        return component.parse_scores(observed.context)
    weights_BSS = observed.maps["encoder", layer][:, head]
    return tree_scores(weights_BSS, torch.from_numpy(observed.words_BS).to(weights_BSS.device))


def parse_sentences(
    bundle: Bundle,
    sentences: Iterable[InputSentence],
    parser: Parser,
    *,
    chunk: int = LINES_PER_CHUNK,
) -> Iterator[tuple[InputSentence, list[str], list[int]]]:
    """Yield sentences, in order, with their words and the heads of these (1-based, 0 = root).

    All words of a sentence that is left out (`features.sources`) are roots. Raises the errors of `sentences`.
    """
    for read in bundle.reader.chunks(sentences, chunk):
        heads = read.sources.heads_of_all(parser(read.examples))
        yield from zip(read.sentences, read.words, (heads_W.tolist() for heads_W in heads), strict=True)


def conllu_block(sentence: InputSentence, words: Sequence[str], heads: Sequence[int]) -> str:
    """Write the heads of a sentence in CoNLL-U, with the empty line after it.

    A line of raw text has comments with its number and its text; without words it is "", since CoNLL-U has no such
    sentences; if the words lack characters, such as controls, the text is that of the words. Of a sentence of a
    treebank, only the heads of the words change: comments, multiword tokens and empty nodes stay.
    """
    if not words:
        return ""
    if not sentence.block:
        is_whole = "".join(sentence.text.split()) == "".join("".join(words).split())
        text = sentence.text if is_whole else " ".join(words)
        return conllu_sentence(words, Annotation(head=heads), sent_id=sentence.number, text=text)
    lines, remaining = [], iter(heads)
    for line in sentence.block.split("\n"):
        columns = line.split("\t")
        if columns[0].isdecimal():
            columns[_HEAD_COLUMN] = str(next(remaining))
        lines.append("\t".join(columns))
    return "\n".join([*lines, "", ""])
