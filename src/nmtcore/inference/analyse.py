"""All that a model makes of sentences: translations with tags and gates, trees, and the attention of every head."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nmtcore.config.claimed_heads import claimed_heads
from nmtcore.corpus.formats.conllu import sentences
from nmtcore.corpus.text_lines import Input, clean_lines
from nmtcore.errors import UserError
from nmtcore.features.examples import Examples
from nmtcore.inference.attention import attention_of_translations
from nmtcore.inference.batches import with_targets
from nmtcore.inference.bundle import Bundle
from nmtcore.inference.gates import gate_norms
from nmtcore.inference.parse import parse_with_all_heads, translate_and_parse
from nmtcore.inference.parse_to_conllu import read_gold_sentence
from nmtcore.inference.raw import MAX_SUBWORDS, TextPart, TextReader
from nmtcore.inference.schemas import TREE_METHODS, GatedSentence, ParseMethod
from nmtcore.inference.shown_sentences import AnalysedModel, AnalysedSentence, AttentionHead, LabelledTree
from nmtcore.inference.tags import predict_tags, predicts_tags
from nmtcore.segmentation.vocabulary import EOS
from nmtcore.syntax.annotation import Annotation

MAX_WEIGHTS = 6_000_000
"""Attention weights in all: about 8 MB of a page. The 96 heads of a paper's model have 86,400 for 30 subwords."""


class SentenceToAnalyse(NamedTuple):
    """A sentence as it was read."""

    number: int
    """Of the line, or of the treebank's sentence, from 1."""
    where: str
    """Its place in messages."""
    text: str
    words: Sequence[str] | None = None
    """None: the text is to be split into words."""
    gold: Annotation | None = None
    """The annotation of a treebank."""


def read_text_sentences(lines: Iterable[str | bytes], *, where: str = "standard input") -> Iterator[SentenceToAnalyse]:
    """Read raw text, one sentence per line; lines of white space are left out. Raises the errors of `clean_lines`."""
    for number, text in enumerate(clean_lines(lines, where=where), start=1):
        if text.strip():
            yield SentenceToAnalyse(number, f"{where}, line {number}", text)


def read_treebank_sentences(path: Path) -> Iterator[SentenceToAnalyse]:
    """Read the sentences of a CoNLL-U file: their syntactic words and trees.

    Raises `LineError` for a line that is not CoNLL-U or a sentence that is not a tree.
    """
    for number, piece in enumerate(sentences(Input(path, None)), start=1):
        side = read_gold_sentence(piece)
        yield SentenceToAnalyse(number, f"{path}, line {piece.line}", side.text, side.words, side.annotation)


def analyse_sentences(
    bundle: Bundle, texts: Iterable[SentenceToAnalyse], *, limit: int, model_folders: Sequence[Path] = ()
) -> AnalysedModel:
    """Analyse the first `limit` sentences; those without words count, but are left out.

    A model that reads the trees of its corpus reads those of the treebank here, if all `texts` come from one.
    `bundle` comes from `load_observed_bundle`. Raises `UserError` if a sentence has more than `MAX_SUBWORDS` subwords,
    if there are more than `MAX_WEIGHTS` attention weights, if the model diverged, and the errors of `texts`.
    """
    chosen = list(islice(texts, limit))
    gold = [text.gold for text in chosen if text.gold is not None]
    with bundle.reader(model_folders, from_treebank=len(gold) == len(chosen)) as reader:
        read = [(text, list(text.words or reader.split(text.text))) for text in chosen]
        read = [(text, words) for text, words in read if words]
        parts = _parts(reader, read)
        annotations = reader.annotate(parts, gold)
        read_from_gold = reader.given_by
        examples = reader.examples_of(parts, annotations)
    translations, parses = translate_and_parse(bundle.model, examples, bundle.search_settings())
    tokens = [list(hypotheses[0].tokens) for hypotheses in translations]
    run = bundle.run
    tree_method = TREE_METHODS[run.evaluation.roots]
    method = tree_method if bundle.model.parses_to_root else "argmax"
    tags = predict_tags(bundle, examples, tokens) if predicts_tags(bundle) else None
    gates = _gates(bundle, examples, tokens, read) if run.has_gates else None
    trees = _trees_of_heads(bundle, examples, tree_method)
    heads: list[AttentionHead] = []
    analysed = []
    for row, (maps, (text, words)) in enumerate(zip(_maps(bundle, examples, tokens), read, strict=True)):
        heads = [_head(bundle, own) for own in maps]
        analysed.append(
            AnalysedSentence(
                number=text.number,
                text=text.text,
                words=words,
                gold=None if text.gold is None else LabelledTree(text.gold.head, text.gold.deprel),
                gold_is_read=any(annotations[name][row].head is not None for name in read_from_gold),
                annotations={
                    name: LabelledTree(own[row].head, own[row].deprel)
                    for name, own in annotations.items()
                    if own[row].head is not None and name not in read_from_gold
                },
                parse=None if parses is None else getattr(parses[row], method).tolist(),
                translation=bundle.text(tokens[row]),
                tags=None if tags is None else tags[row],
                gates=None if gates is None else gates[row],
                source_tokens=maps[0]["keys"],
                target_tokens=bundle.target_vocabulary.tokens([*tokens[row], EOS]),
                weights=[own["weights"] for own in maps],
                head_trees=trees[row],
            )
        )
    return AnalysedModel(
        run.system, run.dataset, run.source, run.target, run.tree_comparison if parses else None, heads, analysed
    )


def _parts(reader: TextReader, read: Sequence[tuple[SentenceToAnalyse, Sequence[str]]]) -> list[TextPart]:
    parts = reader.parts(words for _, words in read)
    for line, count in Counter(part.line for part in parts).items():
        if count > 1:
            raise UserError(f"{read[line][0].where}: the sentence has more than {MAX_SUBWORDS:,} subwords: split it.")
    return parts


def _gates(
    bundle: Bundle,
    examples: Examples,
    tokens: Sequence[Sequence[int]],
    read: Sequence[tuple[SentenceToAnalyse, Sequence[str]]],
) -> list[GatedSentence]:
    """Compute the gate norms of translations."""
    norms = gate_norms(bundle.model, with_targets(examples, tokens))
    pieces = [bundle.target_vocabulary.tokens(own) for own in tokens]
    return [
        GatedSentence(text.text, own, norms_T[:-1]) for (text, _), own, norms_T in zip(read, pieces, norms, strict=True)
    ]


def _trees_of_heads(bundle: Bundle, examples: Examples, method: ParseMethod) -> list[list[list[int]]]:
    """Return the tree of each attention head of the encoder for each example."""
    if not bundle.model.encoder_attention[0]:
        return [[] for _ in range(len(examples))]
    parses = parse_with_all_heads(bundle, examples, method=method).values()
    return [[heads.tolist() for heads in trees] for trees in zip(*parses, strict=True)]


def _maps(bundle: Bundle, examples: Examples, tokens: Sequence[Sequence[int]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the attention maps of each example, with weights in percent; see `ATTENTION_SCHEMA`."""
    count = 0
    for rows in attention_of_translations(bundle, examples, tokens):
        count += sum(row["weights"].size for row in rows)
        if count > MAX_WEIGHTS:
            raise UserError(
                f"These sentences have more than {MAX_WEIGHTS:,} attention weights, too many for a page: show fewer "
                "(--limit), or shorter ones."
            )
        yield [{**row, "weights": np.round(100 * row["weights"]).astype(np.uint8)} for row in rows]


def _head(bundle: Bundle, row: dict[str, Any]) -> AttentionHead:
    own = (row["attention"], row["layer"], row["head"])
    name = f"{row['layer']}.{row['head']}"
    return AttentionHead(*own, claimed_heads(bundle.run).get(name) if row["attention"] == "encoder" else None)
