"""The formats `demo` and `demo_contrastive`: the synthetic demo corpus, generated while it is read."""

from collections.abc import Iterator
from typing import Any

from nmtcore.corpus.contrasts import ContrastEntry, Contrastive, WrongTranslation
from nmtcore.corpus.formats.rows import Format, Inputs, Row
from nmtcore.corpus.pairs import Side


class Demo(Format):
    """Pairs of the demo corpus."""

    def rows(self, inputs: Inputs) -> Iterator[Row]:
        """Yield finished pairs."""
        from nmtcore.demo import generate, swap

        options = self.options
        pairs = generate(split=options.split, count=options.pairs, seed=options.seed)
        return ((swap(pair) if options.swap else pair,) for pair in pairs)

    def parse(self, row: Row) -> tuple[Side, Side]:
        """Return the sides of a finished pair."""
        return _side(row[0].source), _side(row[0].target)


class DemoContrastive(Contrastive):
    """Sentences of the demo corpus with wrong translations."""

    def entries(self, inputs: Inputs) -> Iterator[ContrastEntry]:
        """Yield the sentences that have wrong translations; only their sources have trees."""
        from nmtcore.demo import SIZES, swap
        from nmtcore.demo.contrasts import generate_contrasts

        options = self.options
        count = SIZES[options.split] if options.count is None else options.count
        generated = generate_contrasts(
            split=options.split, count=count, seed=options.seed, target="en" if options.swap else "de"
        )
        for corpus_pair, errors in generated:
            pair = swap(corpus_pair) if options.swap else corpus_pair
            wrong = [
                WrongTranslation(Side(text=own.text, words=own.words), own.phenomenon, own.distance) for own in errors
            ]
            if wrong:
                right = Side(text=pair.target.text, words=pair.target.words)
                yield ContrastEntry(_side(pair.source), right, wrong, pair.origin)


def _side(realisation: Any) -> Side:
    return Side(text=realisation.text, words=realisation.words, annotation=realisation.annotation)
