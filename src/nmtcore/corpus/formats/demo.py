"""The format `demo`: the synthetic demo corpus, generated while it is read."""

from collections.abc import Iterator

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
        source, target = (
            Side(text=realisation.text, words=realisation.words, annotation=realisation.annotation)
            for realisation in (row[0].source, row[0].target)
        )
        return source, target
