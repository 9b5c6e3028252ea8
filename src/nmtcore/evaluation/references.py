"""The references of a test split, as text or as tokens, as the data set's evaluation says."""

from pathlib import Path

from nmtcore.config.runs import RunSettings
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.parquet import read_rows


def read_references(run: RunSettings, corpus: Path, count: int | None) -> list[str]:
    """Read the references of the first `count` pairs of a split (None: all), as text or tokens joined by spaces.

    If the corpus has truecased words, tokenise the text again, since detruecasing does not restore every word. Given
    words are detruecased all the same, since the text does not determine them.
    """
    if run.evaluation.text == "detokenised":
        return [row["target"] for row in read_rows(corpus, columns=["target"], stop=count)]
    words = WordTokenizer(run.text_words("target"), run.target)
    if words.settings.truecase and run.words["target"].kind != "given":
        return [" ".join(words.split(row["target"])) for row in read_rows(corpus, columns=["target"], stop=count)]
    rows = read_rows(corpus, columns=["target_words"], stop=count)
    return [" ".join(words.detruecased(row["target_words"])) for row in rows]
