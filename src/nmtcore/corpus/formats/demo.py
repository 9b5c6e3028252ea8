"""The format `demo`: the synthetic demo corpus, generated while it is read."""

from collections.abc import Iterator

from nmtcore.config.formats import DemoOptions
from nmtcore.corpus.formats.rows import Inputs, ReadingContext, Row
from nmtcore.corpus.pairs import Side

ALIGNED = False


def rows(inputs: Inputs, options: DemoOptions) -> Iterator[Row]:
    """Yield finished pairs."""
    from nmtcore.demo import generate, swap

    pairs = generate(split=options.split, count=options.pairs, seed=options.seed)
    return ((swap(pair) if options.swap else pair,) for pair in pairs)


def parse(row: Row, options: DemoOptions, context: ReadingContext) -> tuple[Side, Side]:
    """Return the sides of a finished pair."""
    source, target = (
        Side(text=realisation.text, words=realisation.words, annotation=realisation.annotation)
        for realisation in (row[0].source, row[0].target)
    )
    return source, target
