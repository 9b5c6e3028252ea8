"""Damaged corpora of every format, and treebanks. Each text has the number of its pair, so that misalignment shows."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from campaigns.damage import damaged_bytes, packed
from campaigns.run import WrongOutput
from corpus.conftest import Bench

from nmtcore.config.corpora import SIDES, PartSettings
from nmtcore.syntax.annotation import tree_fault

WORDS = ["ein", "zwei", "Häuser", "&", "der", "<b>", "日本", ",", '"', "naïve", "10", "zur"]
SHOWN = ("sgm", "conllu")
"""Formats of several files that have ids, and so show a misaligned pair."""
ENCODINGS = (("UTF-8", "utf-8"), ("utf-16-le", "utf-16-le"), ("rot13", "utf-16"))
"""Declared and true encodings of TMX."""
ID_FORMATS = ("n{0}", "wsj/{0}", "chapter {0}", "a/n{0}/{1}")
"""Ids of sentences, with their number and a zone."""


def attempt(random: Random, folder: Path) -> str:
    """Read a corpus with one damaged file, or a damaged treebank."""
    bench = Bench(folder)
    if random.random() < 0.3:
        return _read_treebank(random, bench)
    texts = [_texts(random, side, 30) for side in "st"]
    texts = [own[: min(map(len, texts))] for own in texts]
    format_ = random.choice(sorted(FORMATS))
    files, options = FORMATS[format_](*texts)
    broken = random.choice(sorted(files))
    data = {role: packed(damaged_bytes(own, random), random) if role == broken else own for role, own in files.items()}
    corpus = bench.corpus(format_, options, **{role: bench.file(f"{role}.txt", own) for role, own in data.items()})
    words = "given" if format_ in ("conllu", "czeng") and random.random() < 0.5 else "spaces"
    split = "contrast_x" if format_ == "contrastive" else "train"
    first = corpus if split == "train" else bench.plain("a\n", "b\n")
    most = random.choice((0, 1, 1000))
    dataset = bench.dataset(first, words=words, max_bad_lines=most, max_line_bytes=20_000)
    if split != "train":
        splits = dataset.splits | {split: (PartSettings(corpus="pairs"),)}
        dataset = replace(dataset, corpora=dataset.corpora | {"pairs": corpus}, splits=splits)
    rows, report = bench.read(dataset, split)
    check(rows, report, texts if format_ in SHOWN else ([], []))
    return "counted" if report["dropped"] else "clean"


def _texts(random: Random, side: str, most: int) -> list[str]:
    draws = (random.choices(WORDS, k=random.randrange(6)) for _ in range(random.randrange(3, most)))
    return [" ".join([f"{side}{i:04d}", *words]) for i, words in enumerate(draws)]


def _read_treebank(random: Random, bench: Bench) -> str:
    """Read a damaged treebank of one side: whatever is read is a tree of its words."""
    texts = _texts(random, "s", 24)
    file = bench.file("trees.conllu", packed(damaged_bytes(conllu(texts), random), random))
    splits = {name: (PartSettings(corpus="c"),) for name in ("train", "dev", "test", "gold_x")}
    corpus = bench.corpus("conllu", source=file)
    dataset = bench.dataset(corpus, splits=splits, max_bad_lines=random.choice((0, 1, 1000)))
    rows, report = bench.read(dataset, "gold_x")
    for row in rows:
        heads = row["source_annotation"]["head"]
        if len(heads) != len(row["source_words"]) or tree_fault(heads):
            raise WrongOutput(f"{row['source_words']} with heads {heads}")
        if "".join("".join(row["source_words"]).split()) != "".join(row["source"].split()):
            raise WrongOutput(f"{row['source_words']} is not {row['source']!r}")
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


Files = tuple[dict[str, bytes], dict]
"""The files of a corpus by role, and its options."""


def _plain(sources: list[str], targets: list[str]) -> Files:
    return {
        role: "".join(f"{text}\n" for text in own).encode() for role, own in zip(SIDES, (sources, targets), strict=True)
    }, {}


def _tsv(sources: list[str], targets: list[str]) -> Files:
    return {"pairs": "".join(f"{s}\t{t}\n" for s, t in zip(sources, targets, strict=True)).encode()}, {}


def _sgm(sources: list[str], targets: list[str]) -> Files:
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


def _tmx(sources: list[str], targets: list[str]) -> Files:
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


def _conllu(sources: list[str], targets: list[str]) -> Files:
    return {"source": conllu(sources, "cs"), "target": conllu(targets, "en")}, {}


def _czeng(sources: list[str], targets: list[str]) -> Files:
    def tokens(text: str) -> str:
        return " ".join(f"{w}|{w}|X|{i}|{i - 1}|Dep" for i, w in enumerate(text.replace("|", "").split(), start=1))

    lines = (
        "\t".join(["id", "", tokens(s), "", "", tokens(t), *[""] * 20]) for s, t in zip(sources, targets, strict=True)
    )
    return {"pairs": "".join(f"{line}\n" for line in lines).encode()}, {}


def _contrastive(sources: list[str], targets: list[str]) -> Files:
    lines = (f"{s}\t{t}\t{t} x\tnumber\t2\n" for s, t in zip(sources, targets, strict=True))
    return {"pairs": ("source\tright\twrong\tphenomenon\tdistance\n" + "".join(lines)).encode()}, {}


FORMATS: dict[str, Callable[[list[str], list[str]], Files]] = {
    "plain": _plain, "tsv": _tsv, "sgm": _sgm, "tmx": _tmx, "conllu": _conllu, "czeng": _czeng,
    "contrastive": _contrastive,
}  # fmt: skip
