"""What a model puts out, as text, and the references to compare it with."""

from pathlib import Path

from nmtcore.config.runs import RunSettings
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.features.transforms.chain import Transforms
from nmtcore.inference.beam import Hypothesis
from nmtcore.parquet import read_rows
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary


class Output:
    """From the ids of a hypothesis to the text that scores are computed on, and the references to match."""

    def __init__(self, run: RunSettings, vocabulary: Vocabulary, segmenter: Segmenter, transforms: Transforms) -> None:
        self._run, self._vocabulary, self._segmenter, self._transforms = run, vocabulary, segmenter, transforms
        self._words = WordTokenizer(run.text_words("target"), run.target)

    def text(self, hypothesis: Hypothesis) -> str:
        """Detokenise, or join tokens by spaces, as the data set's evaluation asks for; either way detruecased."""
        words = self._transforms.words(hypothesis.tokens, self._vocabulary, self._segmenter)
        detokenised = self._run.evaluation.text == "detokenised"
        return self._words.join(words) if detokenised else " ".join(self._words.detruecased(words))

    def references(self, corpus: Path, count: int) -> list[str]:
        """Read the references of the first `count` pairs of a split: texts, or their tokens as they were cut.

        What is truecased in the corpus is cut anew from the text, since detruecasing does not bring every word back;
        only given words, which no text tells, are detruecased.
        """
        if self._run.evaluation.text == "detokenised":
            return [row["target"] for row in read_rows(corpus, columns=["target"], stop=count)]
        if self._words.settings.truecase and self._run.words["target"].kind != "given":
            rows = read_rows(corpus, columns=["target"], stop=count)
            return [" ".join(self._words.split(row["target"])) for row in rows]
        rows = read_rows(corpus, columns=["target_words"], stop=count)
        return [" ".join(self._words.detruecased(row["target_words"])) for row in rows]
