"""A head of CoNLL-U through the features and the tensors of a batch, and back to CoNLL-U."""

import numpy as np
from features.sentences import VOCABULARY, forests, words_of
from hypothesis import given
from hypothesis import strategies as st
from named_components import by_name

from nmtcore.annotation.shards import annotation_batch
from nmtcore.config.components.parser_head import DepParseSettings
from nmtcore.config.components.pascal import PascalSettings
from nmtcore.config.components.sisa import SisaSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.corpus.formats.conllu import parse_sentence
from nmtcore.corpus.formats.rows import Piece
from nmtcore.features.examples import Examples, SideExamples, ragged_column
from nmtcore.features.extract import token_batch
from nmtcore.features.ragged import Ragged
from nmtcore.features.schema import columns_of
from nmtcore.features.syntax import syntax_batch
from nmtcore.inference.parse import parse_of
from nmtcore.model.batch import make_batch
from nmtcore.model.build import build_components
from nmtcore.syntax.annotation import Annotation
from nmtcore.syntax.write_conllu import conllu_sentence

SYSTEMS = {
    "depparse": [DepParseSettings(layer=0)],
    "sisa": [SisaSettings()],
    "sisa behind a prefix": [SisaSettings(), DepParseSettings(layer=1)],
}
MODEL = TransformerSettings(width=8, feed_forward=8, heads=2, encoder_layers=2, decoder_layers=1)


@st.composite
def treebanks(draw):
    """Blocks of CoNLL-U, and how many pieces each word is cut into."""
    blocks, cuts = [], []
    for _ in range(draw(st.integers(1, 3))):
        pieces = draw(st.lists(st.integers(1, 3), min_size=1, max_size=6))
        heads = draw(forests(len(pieces)))
        lines = [f"{k}\tw{k}\t_\t_\t_\t_\t{head}\tdep\t_\t_" for k, head in enumerate(heads, start=1)]
        blocks.append("\n".join([*lines, "", ""]))
        cuts.append(pieces)
    return blocks, cuts


def tree_of(block: str) -> Annotation:
    """Read a block as the corpus stage does."""
    return parse_sentence(Piece("f", 1, block.strip("\n").encode()), surface=False).annotation


def examples_of(annotations: list[Annotation], cuts: list[list[int]]) -> Examples:
    """What training reads of these trees."""
    words = [words_of(pieces) for pieces in cuts]
    tokens = token_batch([([9] * len(w), w) for w in words])
    found = syntax_batch(
        annotation_batch(annotations), tokens, VOCABULARY, features=["trees"], side="source", where="file"
    )
    side = SideExamples(
        ids=Ragged.from_lists([[9] * len(w) for w in words], np.int32),
        word_of_subword=Ragged.from_lists(words, np.int32),
        features={name: ragged_column(found.column(name), dtype) for name, dtype in columns_of(["trees"]).items()},
    )
    return Examples(id=np.arange(len(cuts)), source=side)


def head_of_position(position: float, word: int, pieces: list[int]) -> int:
    """The head whose pieces have this mean position; the word itself is a root."""
    words = words_of(pieces)
    (found,) = (w for w in set(words) if np.mean([i for i, other in enumerate(words) if other == w]) == position)
    return 0 if found == word else found + 1


@given(treebanks(), st.sampled_from(sorted(SYSTEMS)))
def test_heads_come_back_from_what_parsers_are_trained_to(treebank, system):
    """A head of attention that looks exactly where it is supervised to gives the trees that came in."""
    blocks, cuts = treebank
    annotations = [tree_of(block) for block in blocks]
    components = build_components(by_name(*SYSTEMS[system]), MODEL)
    batch = make_batch(examples_of(annotations, cuts), np.arange(len(blocks)), components)
    parser = components[0]
    targets_BS, first_subword_BW = (batch.extra[f"{parser.name}.{what}"].numpy() for what in ("targets", "first"))
    for block, pieces, targets_S, first_W in zip(blocks, cuts, targets_BS, first_subword_BW, strict=True):
        log_SS = np.where(targets_S[:, None] == np.arange(len(targets_S)), 0.0, -9.0)
        parse = parse_of(parser.word_scores(log_SS, first_W[: len(pieces)]), to_root=True)
        for heads in (parse.argmax, parse.many_roots):
            words = [f"w{k}" for k in range(1, len(pieces) + 1)]
            annotation = Annotation(head=heads.tolist(), deprel=["dep"] * len(words))
            assert conllu_sentence(words, annotation) == block


@given(treebanks())
def test_heads_come_back_from_parent_positions(treebank):
    blocks, cuts = treebank
    annotations = [tree_of(block) for block in blocks]
    components = build_components(by_name(PascalSettings(heads=1), DepParseSettings(layer=1)), MODEL)
    batch = make_batch(examples_of(annotations, cuts), np.arange(len(blocks)), components)
    for annotation, pieces, positions_S in zip(
        annotations, cuts, batch.extra["pascal.parent_positions"].tolist(), strict=True
    ):
        # Column 0 is that of `<ROOT>`.
        for i, word in enumerate(words_of(pieces)):
            assert head_of_position(positions_S[1 + i] - 1, word, pieces) == annotation.head[word]
