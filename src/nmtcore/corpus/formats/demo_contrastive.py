"""The format `demo_contrastive`: contrastive pairs of the demo corpus, generated while they are read."""

from collections.abc import Iterator

from nmtcore.corpus.contrasts import ContrastEntry, Contrastive, WrongTranslation
from nmtcore.corpus.formats.rows import Inputs
from nmtcore.corpus.pairs import Side


class DemoContrastive(Contrastive):
    """Sentences of the demo corpus with wrong translations."""

    def entries(self, inputs: Inputs) -> Iterator[ContrastEntry]:
        """Yield the sentences that have wrong translations."""
        from nmtcore.demo import SIZES, swap
        from nmtcore.demo.contrasts import generate_contrasts

        options = self.options
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
