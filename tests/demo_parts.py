"""Parts of the demo corpus, for tests to which 20,000 pairs are too many."""

import lzma
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nmtcore.corpus.pairs import Side

DEMO = Path(__file__).parents[1] / "data/demo"


def demo_sides(split: str, language: str, count: int | None = None) -> "list[Side]":
    """Return the first sentences of one side of a split (None: all), as the reader of CoNLL-U makes them."""
    from nmtcore.corpus.formats.conllu import parse_sentence, sentences
    from nmtcore.corpus.text_lines import Input

    pieces = sentences(Input(DEMO / f"{split}.{language}.conllu.xz", None))
    return [parse_sentence(piece, surface=False) for piece in islice(pieces, count)]


def part_of_demo(folder: Path, *, direction: str = "en-de", **counts: int) -> dict:
    """Write the first sentences of splits of the demo corpus to a folder.

    Returns `corpora` for a data set that extends one of the demo's. Of `contrast`, the pairs are those of the first
    sentences.
    """
    folder.mkdir(exist_ok=True)
    corpora = {}
    for split, count in counts.items():
        if split == "contrast":
            with lzma.open(DEMO / f"contrasts.{direction}.tsv.xz", "rt", encoding="utf-8") as file:
                header, *lines = file
            known = {f"test-{number}" for number in range(1, count + 1)}
            text = "".join([header, *(line for line in lines if line.split("\t")[0] in known)])
            corpora[split] = {"files": {"pairs": _written(folder / "contrasts.tsv", text)}}
            continue
        files = {}
        for language in ("en", "de"):
            name = f"{split}.{language}.conllu"
            with lzma.open(DEMO / f"{name}.xz", "rt", encoding="utf-8") as file:
                blocks = islice(_blocks(file), count)
                files[language] = _written(folder / name, "".join(blocks))
        corpora[split] = {"files": files}
    return corpora


def _blocks(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of each sentence, with the empty line at its end."""
    block = ""
    for line in lines:
        block += line
        if line == "\n":
            yield block
            block = ""


def _written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)
