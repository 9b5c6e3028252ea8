"""Damaged corpora of every format. Each text has the number of its pair, so that a misaligned pair is seen."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from campaigns.damage import damaged_bytes, packed
from campaigns.run import WrongOutput
from corpus.conftest import Bench

from nmtcore.config.corpora import SIDES, CorpusSettings, PartSettings

WORDS = ["ein", "zwei", "Häuser", "&", "der", "<b>", "日本", ",", '"', "naïve", "10", "zur"]
SHOWN = ("sgm", "conllu")
"""Formats of several files that have ids, and so show a misaligned pair."""
ENCODINGS = (("UTF-8", "utf-8"), ("utf-16-le", "utf-16-le"), ("rot13", "utf-16"))
"""Declared and true encodings of TMX."""
ID_FORMATS = ("n{0}", "wsj/{0}", "chapter {0}", "a/n{0}/{1}")
"""Ids of sentences, with their number and a zone."""


def attempt(random: Random, folder: Path) -> str:
    """Read a corpus with one damaged file."""
    bench, count = Bench(folder), random.randrange(3, 30)
    texts = [[f"{side}{i:04d} {' '.join(random.choices(WORDS, k=random.randrange(6)))}".strip() for i in range(count)]
             for side in "st"]  # fmt: skip
    format_ = random.choice(sorted(FORMATS))
    files, options = FORMATS[format_](*texts)
    broken = random.choice(sorted(files))
    data = {role: packed(damaged_bytes(own, random), random) if role == broken else own for role, own in files.items()}
    named = {role: bench.file(f"{role}.txt", own) for role, own in data.items()}
    corpus = CorpusSettings(format=format_, files={role: (file,) for role, file in named.items()}, options=options)
    words = "given" if format_ in ("conllu", "czeng") and random.random() < 0.5 else "spaces"
    split = "contrast_x" if format_ == "contrastive" else "train"
    dataset = bench.dataset(
        corpus if split == "train" else bench.plain("a\n", "b\n"),
        words=words,
        max_bad_lines=random.choice((0, 1, 1000)),
        max_line_bytes=20_000,
    )
    if split != "train":
        splits = dataset.splits | {split: (PartSettings(corpus="pairs"),)}
        dataset = replace(dataset, corpora=dataset.corpora | {"pairs": corpus}, splits=splits)
    rows, report = bench.read(dataset, split)
    check(rows, report, texts if format_ in SHOWN else ([], []))
    return "counted" if report["dropped"] else "clean"


def check(rows: list[dict], report: dict, texts: Sequence[Sequence[str]]) -> None:
    """Raise `WrongOutput` for pairs of whole `texts` that are misaligned, or counts that do not add up."""
    ids = [row["id"] for row in rows]
    if sorted(set(ids)) != ids or report["kept"] != len(rows):
        raise WrongOutput(f"ids {ids}, {report['kept']} kept")
    if report["kept"] + sum(report["dropped"].values()) != report["pairs"]:
        raise WrongOutput(f"{report} does not add up")
    for row in rows:
        numbers = [own.index(row[side]) for own, side in zip(texts, SIDES, strict=True) if row[side] in own]
        if len(set(numbers)) == 2:
            raise WrongOutput(f"misaligned: {row['source']!r} and {row['target']!r}")
        if any("\n" in row[side] or "\r" in row[side] for side in SIDES):
            raise WrongOutput(f"a line end in {row!r}")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _plain(sources: list[str], targets: list[str]) -> tuple[dict[str, bytes], dict]:
    return {role: "".join(f"{text}\n" for text in own).encode() for role, own in _sides(sources, targets)}, {}


def _sides(sources: list[str], targets: list[str]) -> list[tuple[str, list[str]]]:
    return [("source", sources), ("target", targets)]


def _tsv(sources: list[str], targets: list[str]) -> tuple[dict[str, bytes], dict]:
    return {"pairs": "".join(f"{s}\t{t}\n" for s, t in zip(sources, targets, strict=True)).encode()}, {}


def _sgm(sources: list[str], targets: list[str]) -> tuple[dict[str, bytes], dict]:
    def document(number: int, texts: list[str]) -> str:
        # Ids that count on: in the wrong document, one that is used in each of them would not be noticed.
        numbered = enumerate(texts, start=number + 1)
        segments = "\n".join(
            f'<seg note="old id={i + 1}" id="{i}">{_escaped(text)}{"<!-- no text -->" * (i % 2)}</seg>'
            for i, text in numbered
        )
        return f'<doc docid="d{number}">\n<p>\n{segments}\n</p>\n</doc>\n'

    def file(name: str, texts: list[str]) -> bytes:
        parts = [document(k, texts[k : k + 5]) for k in range(0, len(texts), 5)]
        return f"<{name} setid='x'>\n<!-- <seg>a comment</seg> -->\n{''.join(parts)}</{name}>\n".encode()

    return {"source": file("srcset", sources), "target": file("refset", targets)}, {}


def _tmx(sources: list[str], targets: list[str]) -> tuple[dict[str, bytes], dict]:
    units = "".join(
        f'<tu tuid="{i}"><tuv xml:lang="cs"><seg>{_escaped(s)}</seg></tuv>'
        f'<tuv xml:lang="en"><seg>{_escaped(t)}</seg></tuv></tu>\n'
        for i, (s, t) in enumerate(zip(sources, targets, strict=True))
    )
    declared, encoding = ENCODINGS[len(sources) % len(ENCODINGS)]
    head = f'<?xml version="1.0" encoding="{declared}"?>\n<tmx version="1.4"><header srclang="cs"/><body>\n'
    return {"pairs": f"{head}{units}</body></tmx>\n".encode(encoding)}, {}


def conllu(texts: list[str], zone: str = "en") -> bytes:
    """Write texts as chains of words; how ids and texts are written depends on the number of texts."""
    sentences, id_format = [], ID_FORMATS[len(texts) % len(ID_FORMATS)]
    equals = (" = ", "=", "\t= ")[len(texts) % 3]
    for number, text in enumerate(texts):
        words = text.split()
        rows = [f"{i}\t{word}\t_\tX\t_\t_\t{i - 1}\tdep\t_\t_" for i, word in enumerate(words, start=1)]
        rows.insert(1, "1.1\tempty\t_\t_\t_\t_\t_\t_\t_\t_")
        comments = [f"# sent_id{equals}{id_format.format(number, zone)}", f"#text{equals}{text}"]
        sentences.append("\n".join([*comments, *rows, "", ""]))
    return "".join(sentences).encode()


def _conllu(sources: list[str], targets: list[str]) -> tuple[dict[str, bytes], dict]:
    return {"source": conllu(sources, "cs"), "target": conllu(targets, "en")}, {}


def _czeng(sources: list[str], targets: list[str]) -> tuple[dict[str, bytes], dict]:
    def tokens(text: str) -> str:
        return " ".join(f"{w}|{w}|X|{i}|{i - 1}|Dep" for i, w in enumerate(text.replace("|", "").split(), start=1))

    lines = (
        "\t".join(["id", "", tokens(s), "", "", tokens(t), *[""] * 20]) for s, t in zip(sources, targets, strict=True)
    )
    return {"pairs": "".join(f"{line}\n" for line in lines).encode()}, {}


def _contrastive(sources: list[str], targets: list[str]) -> tuple[dict[str, bytes], dict]:
    lines = (f"{s}\t{t}\t{t} x\tnumber\t2\n" for s, t in zip(sources, targets, strict=True))
    return {"pairs": ("source\tright\twrong\tphenomenon\tdistance\n" + "".join(lines)).encode()}, {}


FORMATS: dict[str, Callable[[list[str], list[str]], tuple[dict[str, bytes], dict]]] = {
    "plain": _plain, "tsv": _tsv, "sgm": _sgm, "tmx": _tmx, "conllu": _conllu, "czeng": _czeng,
    "contrastive": _contrastive,
}  # fmt: skip
