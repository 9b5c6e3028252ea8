"""The formats `demo` and `demo_contrastive`: the synthetic demo corpus, generated while it is read."""

from collections.abc import Iterator

from nmtcore.corpus.contrasts import ContrastEntry, Contrastive, WrongTranslation
from nmtcore.corpus.formats.rows import Format, Inputs, Row
from nmtcore.corpus.pairs import Side


class Demo(Format):
    """Pairs of the demo corpus, whose realisations serve as sides: they have a text, words and an annotation."""

    def rows(self, inputs: Inputs) -> Iterator[Row]:
        """Yield finished pairs."""
        from nmtcore.demo import generate

        options = self.options
        pairs = generate(split=options.split, count=options.pairs, seed=options.seed)
        return ((pair.target, pair.source) if options.swap else (pair.source, pair.target) for pair in pairs)


class DemoContrastive(Contrastive):
    """Sentences of the demo corpus with wrong translations."""

    def entries(self, inputs: Inputs) -> Iterator[ContrastEntry]:
        """Yield the sentences that have wrong translations; only their sources have trees."""
        from nmtcore.demo import SIZES
        from nmtcore.demo.contrasts import generate_contrasts

        options = self.options
        count = SIZES[options.split] if options.count is None else options.count
        language = "en" if options.swap else "de"
        for pair, errors in generate_contrasts(split=options.split, count=count, seed=options.seed, target=language):
            source, right = (pair.target, pair.source) if options.swap else (pair.source, pair.target)
            wrong = [
                WrongTranslation(Side(text=own.text, words=own.words), own.phenomenon, own.distance) for own in errors
            ]
            if wrong:
                yield ContrastEntry(source, Side(text=right.text, words=right.words), wrong, pair.origin)
