"""A run's hypotheses as text, and the references to score them against."""

from pathlib import Path

from nmtcore.config.runs import RunSettings
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.features.transforms.chain import Transforms
from nmtcore.inference.beam import Hypothesis
from nmtcore.parquet import read_rows
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary


class TextOutput:
    """Turns the ids of a hypothesis into the text that is scored, and reads references in the same form."""

    def __init__(self, run: RunSettings, vocabulary: Vocabulary, segmenter: Segmenter, transforms: Transforms) -> None:
        self._run, self._vocabulary, self._segmenter, self._transforms = run, vocabulary, segmenter, transforms
        self._words = WordTokenizer(run.text_words("target"), run.target)

    def text(self, hypothesis: Hypothesis) -> str:
        """Detruecase a hypothesis; detokenise it or join its tokens by spaces, as the data set's evaluation says."""
        words = self._transforms.words(hypothesis.tokens, self._vocabulary, self._segmenter)
        detokenised = self._run.evaluation.text == "detokenised"
        return self._words.join(words) if detokenised else " ".join(self._words.detruecased(words))

    def references(self, corpus: Path, count: int) -> list[str]:
        """Read the references of the first `count` pairs of a split, as text or as tokens joined by spaces.

        If the corpus has truecased words, tokenise the text again, since detruecasing does not restore every word.
        Given words are detruecased all the same, since the text does not determine them.
        """
        if self._run.evaluation.text == "detokenised":
            return [row["target"] for row in read_rows(corpus, columns=["target"], stop=count)]
        if self._words.settings.truecase and self._run.words["target"].kind != "given":
            rows = read_rows(corpus, columns=["target"], stop=count)
            return [" ".join(self._words.split(row["target"])) for row in rows]
        rows = read_rows(corpus, columns=["target_words"], stop=count)
        return [" ".join(self._words.detruecased(row["target_words"])) for row in rows]
