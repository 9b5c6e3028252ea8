"""Text that is well-formed but damaged: `nmtcore new dataset` refuses or counts it, and clean text passes."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random

from campaigns.run import WrongOutput
from demo_parts import demo_sides

from nmtcore.errors import UserError
from nmtcore.new.dataset import NewDataset, own_dataset, survey_own

Texts = tuple[list[str], list[str]]
"""The lines of both sides."""
SPLITS = {"train": 300, "dev": 40, "test": 40}
ALLOWED = {"identical", "unbalanced"}
"""What is odd about clean text of the demo now and then."""


@cache
def _demo(split: str) -> list[tuple[str, str]]:
    sides = (demo_sides(split, language, 3_000) for language in ("en", "de"))
    return [(source.text, target.text) for source, target in zip(*sides, strict=True)]


def _shifted(random: Random, texts: Texts) -> Texts:
    """Lose a line of one side, and the last one of the other."""
    sides = [list(own) for own in texts]
    side = random.randrange(2)
    del sides[side][random.randrange(len(sides[side]) // 2)]
    del sides[1 - side][-1]
    return sides[0], sides[1]


def _in_pieces(random: Random, texts: Texts) -> Texts:
    """Cut long words, as subword-nmt or SentencePiece does."""

    def cut(line: str) -> str:
        words = [f"{word[:3]}@@ {word[3:]}" if len(word) > 5 else word for word in line.split()]
        return " ".join(words) if at_ends else "▁" + line.replace(" ", " ▁")

    at_ends = random.random() < 0.5
    return list(map(cut, texts[0])), list(map(cut, texts[1]))


def _misread(random: Random, texts: Texts) -> Texts:
    """Read UTF-8 as Windows-1252."""
    return texts[0], [line.encode().decode("cp1252", "replace") for line in texts[1]]


def _escaped(random: Random, texts: Texts) -> Texts:
    """Escape as Moses does."""
    return texts[0], [f"{line} &quot;{random.choice('ab')}&quot;" for line in texts[1]]


def _blank(random: Random, texts: Texts) -> Texts:
    """Leave all lines of a side blank."""
    blank = [" " * random.randrange(2) for _ in texts[0]]
    return (blank, texts[1]) if random.random() < 0.5 else (texts[0], blank)


def _tagged(random: Random, texts: Texts) -> Texts:
    """Write segments into files that are called like plain text."""
    return tuple([f'<seg id="{number}">{line}</seg>' for number, line in enumerate(own, 1)] for own in texts)


def _swapped(random: Random, texts: Texts) -> Texts:
    """Take each side for the other."""
    return texts[1], texts[0]


REFUSED: dict[str, tuple[Callable[[Random, Texts], Texts], str]] = {
    "shifted": (_shifted, "lengths of both sides do not go together"),
    "pieces": (_in_pieces, "pieces of subwords"),
    "blank": (_blank, "blank"),
    "swapped": (_swapped, "are the files swapped?"),
}
"""Damage that is a fault, and what the sentence says."""
COUNTED: dict[str, tuple[Callable[[Random, Texts], Texts], str]] = {
    "misread": (_misread, "misread"),
    "escapes": (_escaped, "entities"),
}
"""Damage that is an oddity, and its name."""
READ: dict[str, tuple[Callable[[Random, Texts], Texts], str]] = {"tags": (_tagged, "sgm")}
"""What is no damage after all, and the format as which it is read."""
CHANGED = REFUSED | COUNTED | READ


def attempt(random: Random, folder: Path) -> str:
    """Look at a data set of which nothing, or one split, was damaged in one way."""
    damage = random.choice(["", "tabs", *CHANGED])
    splits = {"blank": ("dev", "test")}.get(damage, ("train",))
    damaged = random.choice(splits)
    files: dict[str, Sequence[Sequence[str]]] = {}
    for split, count in SPLITS.items():
        pairs = _demo(split)
        first = random.randrange(len(pairs) - count)
        sources, targets = zip(*pairs[first : first + count], strict=True)
        texts: Texts = (list(sources), list(targets))
        if split == damaged and damage in CHANGED:
            texts = CHANGED[damage][0](random, texts)
        files[split] = [_written(folder / split, texts)]
        if split == damaged and damage == "tabs":
            files[split] = [_table(random, folder / "train.tsv", texts)]
    request = NewDataset(name="x", source="en", target="de", files=files, parser="none")
    try:
        survey = survey_own(request, own_dataset(request))
    except UserError as error:
        expected = "columns" if damage == "tabs" else REFUSED.get(damage, ("", "\0"))[1]
        if expected not in str(error):
            raise WrongOutput(f"{damage or 'clean text'}: {error}") from error
        raise
    odd = {name for own in survey.splits.values() for name, rows in own.odd.items() if rows}
    if damage == "tabs" or damage in REFUSED:
        raise WrongOutput(f"{damage} of {damaged} was not noticed")
    if damage in COUNTED and COUNTED[damage][1] not in odd:
        raise WrongOutput(f"{damage} of {damaged} was not counted, but {odd}")
    if damage in READ and survey.dataset.corpora[damaged].format != READ[damage][1]:
        raise WrongOutput(f"{damage} of {damaged} was read as {survey.dataset.corpora[damaged].format}")
    if damage not in COUNTED and odd - ALLOWED:
        raise WrongOutput(f"{damage or 'clean text'} is odd: {odd}")
    return "counted" if damage in COUNTED else "clean"


def _written(stem: Path, texts: Texts) -> list[str]:
    paths = [f"{stem}.{language}" for language in ("en", "de")]
    for path, lines in zip(paths, texts, strict=True):
        Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return paths


def _table(random: Random, path: Path, texts: Texts) -> list[str]:
    """Write a table of which some sources have a tab inside."""
    rows = [
        (source.replace(" ", "\t", 1) if random.random() < 0.05 else source, target)
        for source, target in zip(*texts, strict=True)
    ]
    rows[0] = (rows[0][0].replace(" ", "\t", 1), rows[0][1])
    rows[1:5] = [(source.replace(" ", "\t", 1), target) for source, target in rows[1:5]]
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return [str(path)]
