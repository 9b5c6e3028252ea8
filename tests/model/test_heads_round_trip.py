"""Tests that heads of CoNLL-U survive features and batches and come back as CoNLL-U."""

import numpy as np
from features.sentences import annotated_words, forests, words_of
from hypothesis import given
from hypothesis import strategies as st
from named_components import by_name

from nmtcore.config.components.settings import DepParseSettings, SisaSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.corpus.formats.conllu import parse_sentence
from nmtcore.corpus.text_lines import Piece
from nmtcore.features.examples import Examples, SideExamples, ragged_column
from nmtcore.features.ragged import Ragged
from nmtcore.features.schema import columns_of
from nmtcore.features.syntax import syntax_batch
from nmtcore.inference.parse import parse_of
from nmtcore.model.batch import make_batch
from nmtcore.model.build import build_components
from nmtcore.syntax.annotation import Annotation, conllu_sentence

SYSTEMS = {
    "depparse": [DepParseSettings(layer=0)],
    "sisa": [SisaSettings()],
    "sisa behind a prefix": [SisaSettings(), DepParseSettings(layer=1)],
}
MODEL = TransformerSettings(width=8, feed_forward=8, heads=2, encoder_layers=2, decoder_layers=1)


@st.composite
def treebanks(draw):
    """Draw blocks of CoNLL-U, and the number of subwords of each word."""
    blocks, all_counts = [], []
    for _ in range(draw(st.integers(1, 3))):
        subword_counts = draw(st.lists(st.integers(1, 3), min_size=1, max_size=6))
        heads = draw(forests(len(subword_counts)))
        lines = [f"{k}\tw{k}\t_\t_\t_\t_\t{head}\tdep\t_\t_" for k, head in enumerate(heads, start=1)]
        blocks.append("\n".join([*lines, "", ""]))
        all_counts.append(subword_counts)
    return blocks, all_counts


def tree_of(block: str) -> Annotation:
    """Read a block as in the corpus stage."""
    return parse_sentence(Piece("f", 1, block.strip("\n").encode()), surface=False).annotation


def examples_of(annotations: list[Annotation], all_counts: list[list[int]]) -> Examples:
    """Make the training examples of these trees."""
    words = [words_of(subword_counts) for subword_counts in all_counts]
    features = syntax_batch(annotated_words(list(zip(all_counts, annotations, strict=True))), ["trees"])
    side = SideExamples(
        ids=Ragged.from_lists([[9] * len(w) for w in words], np.int32),
        word_of_subword=Ragged.from_lists(words, np.int32),
        features={name: ragged_column(features.column(name), dtype) for name, dtype in columns_of(["trees"]).items()},
    )
    return Examples(id=np.arange(len(all_counts)), source=side)


@given(treebanks(), st.sampled_from(sorted(SYSTEMS)))
def test_heads_can_be_parsed_back_from_training_targets(treebank, system):
    """An attention head that points exactly to its targets yields the original trees."""
    blocks, all_counts = treebank
    annotations = [tree_of(block) for block in blocks]
    components = build_components(by_name(*SYSTEMS[system]), MODEL)
    batch = make_batch(examples_of(annotations, all_counts), np.arange(len(blocks)), components)
    parser = components[0]
    targets_BS = batch.extra[f"{parser.name}.targets"].numpy()
    for block, subword_counts, targets_S in zip(blocks, all_counts, targets_BS, strict=True):
        log_SS = np.where(targets_S[:, None] == np.arange(len(targets_S)), 0.0, -9.0)
        first_W = batch.source_BS.shape[1] - 1 - max(map(sum, all_counts)) + np.cumsum([0, *subword_counts[:-1]])
        parse = parse_of(parser.word_scores(log_SS, first_W), to_root=True)
        for heads in (parse.argmax, parse.many_roots):
            words = [f"w{k}" for k in range(1, len(subword_counts) + 1)]
            annotation = Annotation(head=heads.tolist(), deprel=["dep"] * len(words))
            assert conllu_sentence(words, annotation) == block
