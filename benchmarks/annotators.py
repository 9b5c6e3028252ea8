"""The cost of our annotators: the bare tool and our annotator on the same sentences, alternating in one process.

    python benchmarks/annotators.py FOLDER [TOOL ...] [--sentences N] [--rounds N]

FOLDER contains `data/multi30k` and the models (`corenlp/`, `models/`). The bare tool runs as one would run it without
this package: its own command on one file, or a plain loop, without reading its output. Our annotator does all that a
job of the workflow does: read Parquet, guard, start the tool, check, write Parquet. Both times include start-up and
loading. The best round counts, by wall time and by the CPU time of all processes, which other programs disturb less.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from nmtcore.annotation.shards import annotate_shard
from nmtcore.config.annotators import AnnotatorSettings, CoreNlpSettings, SpacySettings, StanzaSettings, UdPipeSettings
from nmtcore.corpus.pairs import PAIR_SCHEMA
from nmtcore.parquet import write_rows

Words = Sequence[str]


class Contest(NamedTuple):
    """A bare tool and our annotator for it."""

    title: str
    """The name of the row in the output."""
    run_bare: Callable[[], None]
    """Run the bare tool."""
    settings: AnnotatorSettings
    """Settings of our annotator."""
    language: str
    """Language code of the model."""


def corenlp(folder: Path, sentences: list[Words], work: Path) -> list[Contest]:
    """CoreNLP's English dependencies (with our options of Java, and with Java's defaults) and constituents."""
    text = work / "sentences.txt"
    text.write_text("".join(" ".join(words) + "\n" for words in sentences), encoding="utf-8")
    common = ["edu.stanford.nlp.pipeline.StanfordCoreNLP", "-tokenize.whitespace", "true", "-ssplit.eolonly", "true"]
    common += ["-threads", "1", "-file", str(text), "-outputDirectory", str(work)]
    trees = ["-annotators", "tokenize,ssplit,pos,depparse", "-outputFormat", "conllu"]
    phrases = ["-annotators", "tokenize,ssplit,pos,parse", "-outputFormat", "json", "-parse.buildgraphs", "false"]
    phrases += ["-parse.model", "edu/stanford/nlp/models/srparser/englishSR.ser.gz", "-parse.maxlen", "250"]

    def bare(options: list[str], *java_options: str) -> Callable[[], None]:
        command = ["java", "-Xmx3g", *java_options, "-cp", f"{folder}/corenlp/*", *common, *options]
        return lambda: subprocess.run(command, check=True, capture_output=True)

    our_option = "-XX:+UseSerialGC"
    constituents = CoreNlpSettings(analysis="constituents")
    return [
        Contest("corenlp, dependencies", bare(trees, our_option), CoreNlpSettings(), "en"),
        Contest("  with Java's defaults", bare(trees), CoreNlpSettings(), "en"),
        Contest("corenlp, constituents", bare(phrases, our_option), constituents, "en"),
    ]


def spacy(folder: Path, sentences: list[Words], work: Path) -> list[Contest]:
    """A spaCy parser and a supertagger, on tokenised documents."""
    del work
    models = folder / "models"

    def bare(model: str) -> Callable[[], None]:
        def run_pipeline() -> None:
            import spacy
            from spacy.tokens import Doc

            nlp = spacy.load(models / model)
            starts = ([True] + [False] * (len(words) - 1) for words in sentences)
            docs = (Doc(nlp.vocab, words=w, sent_starts=s) for w, s in zip(sentences, starts, strict=True))
            for _ in nlp.pipe(docs, batch_size=128):
                pass

        return run_pipeline

    return [
        Contest("spacy", bare("en_ud"), SpacySettings(model="en_ud"), "en"),
        Contest("spacy, supertags", bare("en_ccg_pmb"), SpacySettings(model="en_ccg_pmb", tags="ccg"), "en"),
    ]


def udpipe(folder: Path, sentences: list[Words], work: Path) -> list[Contest]:
    """UDPipe's German parser, here on English sentences."""
    del work

    def bare() -> None:
        from ufal.udpipe import Model
        from ufal.udpipe import Sentence as Tokens

        model = Model.load(str(folder / "models/de_ud.udpipe"))
        for words in sentences:
            tokens = Tokens()
            for word in words:
                tokens.addWord(word)
            model.tag(tokens, model.DEFAULT)
            model.parse(tokens, model.DEFAULT)

    return [Contest("udpipe", bare, UdPipeSettings(model="de_ud.udpipe"), "de")]


def stanza(folder: Path, sentences: list[Words], work: Path) -> list[Contest]:
    """The small Stanza pipeline of the tests, trained here; a real one is slower, so our overhead is smaller."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from annotation.tiny_stanza import train_tiny_stanza

    model = train_tiny_stanza(work / "stanza_en", folder / "data/ud/en_ewt_dev.conllu")

    def bare() -> None:
        import torch
        from stanza import Pipeline

        torch.set_num_threads(1)
        (model / "resources.json").write_text("{}")
        names = ("pos", "lemma", "depparse")
        nlp = Pipeline(
            "en",
            dir=str(model),
            processors=",".join(["tokenize", *names]),
            download_method=None,
            allow_unknown_language=True,
            tokenize_pretokenized=True,
            use_gpu=torch.cuda.is_available(),
            verbose=False,
            **{f"{name}_model_path": str(model / f"{name}.pt") for name in names},
        )
        nlp([list(words) for words in sentences])

    return [Contest("stanza", bare, StanzaSettings(model=model.name), "en")]


CONTESTS = {"corenlp": corenlp, "spacy": spacy, "udpipe": udpipe, "stanza": stanza}


def main() -> None:
    """Run the contests that the command line chooses, and print one row per contest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder with the data and the models")
    parser.add_argument("tools", nargs="*", choices=[[], *CONTESTS], metavar="TOOL", help="tools to measure [all]")
    parser.add_argument("--sentences", type=int, default=500, help="sentences of Multi30k [500]")
    parser.add_argument("--rounds", type=int, default=2, help="rounds, of which the best counts [2]")
    options = parser.parse_args()
    lines = (options.folder / "data/multi30k/train.en").read_text(encoding="utf-8").split("\n")
    # Separate full stops and commas from words, as a tokeniser does.
    sentences = [line.replace(",", " ,").replace(".", " .").split() for line in lines[: options.sentences]]
    print(f"{len(sentences)} sentences      {'ours':>22} {'bare':>8}   ours/bare: wall, CPU  (sentences/s)")
    for tool in options.tools or CONTESTS:
        with tempfile.TemporaryDirectory() as name:
            for contest in CONTESTS[tool](options.folder.absolute(), sentences, Path(name)):
                wall, cpu = run_contest(contest, sentences, Path(name), options.folder.absolute(), options.rounds)
                rates = f"{len(sentences) / wall.ours:8.1f} {len(sentences) / wall.bare:8.1f}"
                ratios = f"{wall.ours / wall.bare:14.3f} {cpu.ours / cpu.bare:6.3f}"
                print(f"{contest.title:28} {rates:>30} {ratios}", flush=True)


class BestSeconds(NamedTuple):
    """The seconds of the best round, for our annotator and for the bare tool."""

    ours: float
    bare: float


def run_contest(
    contest: Contest, sentences: list[Words], work: Path, folder: Path, rounds: int
) -> tuple[BestSeconds, BestSeconds]:
    """Measure wall and CPU times."""
    rows = [{"id": n, "source_words": words, "origin": "x"} for n, words in enumerate(sentences)]
    empty_columns = {field.name: "" for field in PAIR_SCHEMA if field.name not in rows[0]}
    write_rows(work / "corpus.parquet", PAIR_SCHEMA, [{**row, **empty_columns, "target_words": []} for row in rows])

    def ours() -> None:
        annotate_shard(
            contest.settings,
            corpus=work / "corpus.parquet",
            raw=work / "none",
            side="source",
            language=contest.language,
            shard=0,
            shards=1,
            output=work / "annotation.parquet",
            model_folders=(folder, folder / "models", work),
        )

    wall: tuple[list[float], list[float]] = ([], [])
    cpu: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for contestant, annotate in enumerate((ours, contest.run_bare)):
            start, used = time.perf_counter(), sum(os.times()[:4])
            annotate()
            wall[contestant].append(time.perf_counter() - start)
            cpu[contestant].append(sum(os.times()[:4]) - used)
    return BestSeconds(*map(min, wall)), BestSeconds(*map(min, cpu))


if __name__ == "__main__":
    main()
