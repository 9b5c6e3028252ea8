"""A run's hypotheses as the text that is scored."""

from nmtcore.config.runs import RunSettings
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.features.transforms.chain import Transforms
from nmtcore.inference.search import Hypothesis
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary


class TextOutput:
    """Turns the ids of a hypothesis into the text that is scored; `read_references` has references in that form."""

    def __init__(self, run: RunSettings, vocabulary: Vocabulary, segmenter: Segmenter, transforms: Transforms) -> None:
        self._run, self._vocabulary, self._segmenter, self._transforms = run, vocabulary, segmenter, transforms
        self._words = WordTokenizer(run.text_words("target"), run.target)

    def text(self, hypothesis: Hypothesis) -> str:
        """Detokenise a hypothesis, or join its tokens by spaces, as the data set's evaluation says."""
        words = self._transforms.words(hypothesis.tokens, self._vocabulary, self._segmenter)
        detokenised = self._run.evaluation.text == "detokenised"
        return self._words.join(words) if detokenised else " ".join(words)
