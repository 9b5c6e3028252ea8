"""Damaged corpora of every format, and treebanks. Each text has the number of its pair, so that misalignment shows."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from campaigns.damage import damaged_bytes, packed
from campaigns.run import WrongOutput
from corpus.conftest import Bench
from corpus.test_samples import SAMPLES

from nmtcore.config.corpora import FORMATS, SIDES, PartSettings
from nmtcore.syntax.annotation import tree_fault

WORDS = ["ein", "zwei", "Häuser", "&", "der", "<b>", "日本", ",", '"', "naïve", "10", "zur"]
SHOWN = ("sgm", "conllu")
"""Formats of several files that have ids, and so show a misaligned pair."""
ID_FORMATS = ("n{0}", "wsj/{0}", "chapter {0}", "a/n{0}/{1}")
"""Ids of sentences, with their number and a zone."""


def attempt(random: Random, folder: Path) -> str:
    """Read a corpus with one damaged file, or a damaged treebank."""
    bench = Bench(folder)
    texts = [_texts(random, side, 30) for side in "st"]
    texts = [own[: min(map(len, texts))] for own in texts]
    format_ = random.choice([name for name, options in sorted(FORMATS.items()) if options.roles])
    files, split = corpus_files(format_, *texts), "contrast_x" if format_ == "contrastive" else "train"
    if format_ == "conllu" and random.random() < 0.5:
        files, split = {"source": files["source"]}, "gold_x"
    broken = random.choice(sorted(files))
    data = {role: packed(damaged_bytes(own, random), random) if role == broken else own for role, own in files.items()}
    corpus = bench.corpus(format_, **{role: bench.file(f"{role}.txt", own) for role, own in data.items()})
    words = "given" if format_ in ("conllu", "czeng") and random.random() < 0.5 else "spaces"
    first = corpus if split == "train" else bench.plain("a\n", "b\n")
    most = random.choice((0, 1, 1000))
    dataset = bench.dataset(first, words=words, max_bad_lines=most, max_line_bytes=20_000)
    if split != "train":
        splits = dataset.splits | {split: (PartSettings(corpus="pairs"),)}
        dataset = replace(dataset, corpora=dataset.corpora | {"pairs": corpus}, splits=splits)
    rows, report = bench.read(dataset, split)
    check(rows, report, texts if format_ in SHOWN and split == "train" else ([], []))
    return "counted" if report["dropped"] else "clean"


def _texts(random: Random, side: str, most: int) -> list[str]:
    draws = (random.choices(WORDS, k=random.randrange(6)) for _ in range(random.randrange(3, most)))
    return [" ".join([f"{side}{i:04d}", *words]) for i, words in enumerate(draws)]


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
        if (tree := row["source_annotation"]) and (
            len(tree["head"]) != len(row["source_words"]) or tree_fault(tree["head"])
        ):
            raise WrongOutput(f"{row['source_words']} with heads {tree['head']}")
        if any("\n" in row[side] or "\r" in row[side] for side in SIDES):
            raise WrongOutput(f"a line end in {row!r}")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def corpus_files(name: str, sources: list[str], targets: list[str]) -> dict[str, bytes]:
    """Write the files of a corpus by role; of formats that do not show a misaligned pair, these are the samples."""
    if name == "sgm":
        return {"source": _sgm("srcset", sources), "target": _sgm("refset", targets)}
    if name == "conllu":
        return {"source": conllu(sources, "cs"), "target": conllu(targets, "en")}
    return {role: (SAMPLES / f"{name}.{role}").read_bytes() for role in FORMATS[name].roles}


def _sgm(name: str, texts: list[str]) -> bytes:
    def document(number: int) -> str:
        # Ids that count on: in the wrong document, one that is used in each of them would not be noticed.
        segments = "\n".join(
            f'<seg note="old id={i + 1}" id="{i}">{_escaped(text)}{"<!-- no text -->" * (i % 2)}</seg>'
            for i, text in enumerate(texts[number : number + 5], start=number + 1)
        )
        return f'<doc docid="d{number}">\n<p>\n{segments}\n</p>\n</doc>\n'

    documents = "".join(map(document, range(0, len(texts), 5)))
    return f"<{name} setid='x'>\n<!-- <seg>a comment</seg> -->\n{documents}</{name}>\n".encode()


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
