"""All that a model makes of sentences: translations with tags and gates, trees, and the attention of every head."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from nmtcore.config.training import DecodingSettings
from nmtcore.errors import UserError
from nmtcore.inference.attention import attention_rows, write_attention
from nmtcore.inference.batches import with_targets
from nmtcore.inference.bundle import Bundle
from nmtcore.inference.parse import parse_with_heads, translate_and_parse
from nmtcore.inference.schemas import (
    ATTENTION_SCHEMA,
    PREDICTED_TAGS_SCHEMA,
    TREE_METHODS,
    AnalysedModel,
    AnalysedSentence,
    AttentionHead,
    GatedSentence,
    LabelledTree,
    tag_row,
)
from nmtcore.inference.scoring import gate_norms, predict_tags
from nmtcore.inference.text import InputSentence, ScoredText
from nmtcore.parquet import row_writer
from nmtcore.segmentation.vocabulary import EOS


def analyse_sentences(bundle: Bundle, texts: Iterable[InputSentence], *, limit: int) -> AnalysedModel:
    """Analyse the first `limit` sentences, except those that are left out (`features.sources`).

    A model that reads the trees of its corpus reads those of the treebank here, if all `texts` come from one.
    `bundle` comes from `load_observed_bundle`. Raises `UserError` if the model diverged, and the errors of `texts`.
    """
    chosen = list(islice(texts, limit))
    reader = bundle.new_reader(from_treebank=all(text.gold is not None for text in chosen))
    read = reader.read(chosen)
    run, model, examples = bundle.run, bundle.model, read.examples
    translations, parses = translate_and_parse(model, examples, bundle.search_settings())
    tokens = [list(hypotheses[0].tokens) for hypotheses in translations]
    tree_method = TREE_METHODS[run.evaluation.roots]
    method = tree_method if model.parser and model.parser.points_to_root else "argmax"
    tags = predict_tags(bundle, examples, tokens) if run.predicted_tags else None
    gates = gate_norms(model, with_targets(examples, tokens)) if run.has_gates else None
    trees = parse_with_heads(bundle, examples, method=tree_method).values()
    heads: list[AttentionHead] = []
    analysed = []
    maps_of_examples = chain.from_iterable(attention_rows(bundle, examples, tokens))
    for row, (maps, line) in enumerate(zip(maps_of_examples, read.sources.rows.tolist(), strict=True)):
        sentence = chosen[line]
        heads = [_head(bundle, attention_map) for attention_map in maps]
        annotations = {
            name: per_sentence[line]
            for name, per_sentence in read.annotations.items()
            if per_sentence[line].head is not None
        }
        pieces = bundle.vocabularies["target"].tokens(tokens[row])
        analysed.append(
            AnalysedSentence(
                number=sentence.number,
                text=sentence.text,
                words=read.words[line],
                gold=None if sentence.gold is None else LabelledTree(sentence.gold.head, sentence.gold.deprel),
                gold_is_read=not annotations.keys().isdisjoint(reader.given_by),
                annotations={
                    name: LabelledTree(annotation.head, annotation.deprel)
                    for name, annotation in annotations.items()
                    if name not in reader.given_by
                },
                parse=None if parses is None else read.sources.heads_of_words(line, parses[row][method]).tolist(),
                translation=bundle.output.text(tokens[row]),
                tags=None if tags is None else tags[row],
                gates=None if gates is None else GatedSentence(pieces, gates[row][:-1]),
                source_tokens=maps[0]["keys"],
                target_tokens=[*pieces, *bundle.vocabularies["target"].tokens([EOS])],
                weights=[np.round(100 * attention_map["weights"]).astype(np.uint8) for attention_map in maps],
                head_trees=[read.sources.heads_of_words(line, each[row]).tolist() for each in trees],
            )
        )
    return AnalysedModel(
        run.system, run.dataset, run.source, run.target, run.tree_comparison if parses else None, heads, analysed
    )


def _head(bundle: Bundle, row: dict[str, Any]) -> AttentionHead:
    place = (row["attention"], row["layer"], row["head"])
    name = f"{row['layer']}.{row['head']}"
    return AttentionHead(*place, bundle.run.claimed_heads.get(name) if row["attention"] == "encoder" else None)


def translate_and_write(
    bundle: Bundle,
    lines: Iterable[str | bytes],
    settings: DecodingSettings | None = None,
    *,
    tags: Path | None = None,
    attention: Path | None = None,
    **options: Any,
) -> Iterator[list[ScoredText]]:
    """Yield what `Bundle.translate_n_best` yields, and write what belongs to each line's best translation.

    `tags` is the file of its words' tags, `PREDICTED_TAGS_SCHEMA`, with a row per line. `attention` is that of the
    weights of every head, `ATTENTION_SCHEMA`; `bundle` then comes from `load_observed_bundle`. The files appear after
    the last line; then standard error says how many lines that have words have an empty best translation, if any.
    Raises `UserError` if the model predicts no tags, and the errors of `Bundle.translate_chunks`, which takes the same
    `options`.
    """
    if tags and bundle.run.predicted_tags is None:
        raise UserError(
            f"The system {bundle.run.system} predicts no tags: use a model of another system, such as tag_attention."
        )
    empty = counted = 0
    with ExitStack() as stack:
        tag_file = tags and stack.enter_context(row_writer(tags, PREDICTED_TAGS_SCHEMA))
        map_file = attention and stack.enter_context(row_writer(attention, ATTENTION_SCHEMA))
        for chunk, translations in bundle.translate_chunks(lines, settings, **options):
            best = [hypotheses[0].tokens for hypotheses in translations]
            if tag_file:
                tagged = chunk.sources.of_all(predict_tags(bundle, chunk.examples, best), [])
                for sentence, words in zip(chunk.sentences, tagged, strict=True):
                    tag_file.write(tag_row(sentence.number - 1, words))
            if map_file:
                write_attention(map_file, bundle, chunk.examples, best)
            for words, texts in zip(chunk.words, bundle.texts(chunk, translations), strict=True):
                counted += bool(words)
                empty += bool(words) and not texts[0].text
                yield texts
    if empty:
        print(f"{empty:,} of {counted:,} lines have an empty translation.", file=sys.stderr)
