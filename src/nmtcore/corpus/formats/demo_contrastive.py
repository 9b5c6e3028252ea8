"""The format `demo_contrastive`: contrastive pairs of the demo corpus, generated while they are read."""

from collections.abc import Iterator

from nmtcore.config.formats import DemoContrastiveOptions
from nmtcore.corpus.contrasts import ContrastEntry, WrongTranslation
from nmtcore.corpus.formats.rows import Inputs, ReadingContext, Row
from nmtcore.corpus.pairs import Side

ALIGNED = False


def entries(inputs: Inputs, options: DemoContrastiveOptions) -> Iterator[ContrastEntry]:
    """Yield the sentences that have wrong translations."""
    from nmtcore.demo import SIZES, swap
    from nmtcore.demo.contrasts import generate_contrasts

    count = SIZES[options.split] if options.count is None else options.count
    generated = generate_contrasts(
        split=options.split, count=count, seed=options.seed, target="en" if options.swap else "de"
    )
    for corpus_pair, wrong in generated:
        pair = swap(corpus_pair) if options.swap else corpus_pair
        source, target = pair.source, pair.target
        if wrong:
            yield ContrastEntry(
                source=Side(text=source.text, words=source.words, annotation=source.annotation),
                right=Side(text=target.text, words=target.words),
                wrong=[
                    WrongTranslation(Side(text=own.text, words=own.words), own.phenomenon, own.distance)
                    for own in wrong
                ],
                place=pair.origin,
            )


def rows(inputs: Inputs, options: DemoContrastiveOptions) -> Iterator[Row]:
    """Yield the source of each sentence with its right translation, and then with each wrong one."""
    return (pair for entry in entries(inputs, options) for pair in entry.pairs)


def parse(row: Row, options: DemoContrastiveOptions, context: ReadingContext) -> tuple[Side, Side]:
    """Return the sides of a finished pair."""
    source, target = row
    return source, target
