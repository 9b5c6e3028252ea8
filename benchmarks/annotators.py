"""What our wrapper around a parser costs: the bare tool and ours on the same sentences, in turns in one run.

    python benchmarks/annotators.py FOLDER [TOOL ...] [--sentences N] [--rounds N]

FOLDER holds `data/multi30k` and the models (`corenlp/`, `models/`). The bare tool is what one would write without us:
its own command on one file, or its own loop; what it made is read by nobody. Ours is all that a job of the workflow
does: read Parquet, guard, start the tool, check, write Parquet. Start-up and loading are included on both sides; the
best round of each counts, by wall time and by the CPU time of all processes, which other work disturbs less.
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


class Race(NamedTuple):
    """A tool alone, and its settings for ours."""

    what: str
    bare: Callable[[], None]
    settings: AnnotatorSettings
    language: str


def corenlp(folder: Path, sentences: list[Words], work: Path) -> list[Race]:
    """CoreNLP's dependencies and constituents of English, a file each; beside our options of Java and its own."""
    text = work / "sentences.txt"
    text.write_text("".join(" ".join(words) + "\n" for words in sentences), encoding="utf-8")
    common = ["edu.stanford.nlp.pipeline.StanfordCoreNLP", "-tokenize.whitespace", "true", "-ssplit.eolonly", "true"]
    common += ["-threads", "1", "-file", str(text), "-outputDirectory", str(work)]
    trees = ["-annotators", "tokenize,ssplit,pos,depparse", "-outputFormat", "conllu"]
    phrases = ["-annotators", "tokenize,ssplit,pos,parse", "-outputFormat", "json", "-parse.buildgraphs", "false"]
    phrases += ["-parse.model", "edu/stanford/nlp/models/srparser/englishSR.ser.gz", "-parse.maxlen", "250"]

    def bare(options: list[str], *machine: str) -> Callable[[], None]:
        command = ["java", "-Xmx3g", *machine, "-cp", f"{folder}/corenlp/*", *common, *options]
        return lambda: subprocess.run(command, check=True, capture_output=True)

    same = "-XX:+UseSerialGC"
    constituents = CoreNlpSettings(analysis="constituents")
    return [
        Race("corenlp, dependencies", bare(trees, same), CoreNlpSettings(), "en"),
        Race("  beside Java's own choice", bare(trees), CoreNlpSettings(), "en"),
        Race("corenlp, constituents", bare(phrases, same), constituents, "en"),
    ]


def spacy(folder: Path, sentences: list[Words], work: Path) -> list[Race]:
    """A spaCy parser and a supertagger, on documents of given words."""
    del work
    models = folder / "models"

    def bare(model: str) -> Callable[[], None]:
        def way() -> None:
            import spacy
            from spacy.tokens import Doc

            nlp = spacy.load(models / model)
            starts = ([True] + [False] * (len(words) - 1) for words in sentences)
            docs = (Doc(nlp.vocab, words=w, sent_starts=s) for w, s in zip(sentences, starts, strict=True))
            for _ in nlp.pipe(docs, batch_size=128):
                pass

        return way

    return [
        Race("spacy", bare("en_ud"), SpacySettings(model="en_ud"), "en"),
        Race("spacy, supertags", bare("en_ccg_pmb"), SpacySettings(model="en_ccg_pmb", tags="ccg"), "en"),
    ]


def udpipe(folder: Path, sentences: list[Words], work: Path) -> list[Race]:
    """UDPipe's German parser, which does not mind that the sentences are English."""
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

    return [Race("udpipe", bare, UdPipeSettings(model="de_ud.udpipe"), "de")]


def stanza(folder: Path, sentences: list[Words], work: Path) -> list[Race]:
    """A Stanza pipeline of tests' size, trained on the spot: a real one is slower, and its wrapper costs less of it."""
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

    return [Race("stanza", bare, StanzaSettings(model=model.name), "en")]


TOOLS = {"corenlp": corenlp, "spacy": spacy, "udpipe": udpipe, "stanza": stanza}


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("tools", nargs="*", choices=[[], *TOOLS], metavar="TOOL")
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=2)
    chosen = parser.parse_args()
    lines = (chosen.folder / "data/multi30k/train.en").read_text(encoding="utf-8").split("\n")
    # Full stops and commas apart, as a tokeniser would have them.
    sentences = [line.replace(",", " ,").replace(".", " .").split() for line in lines[: chosen.sentences]]
    print(f"{len(sentences)} sentences      {'ours':>22} {'bare':>8}   ours/bare: wall, CPU  (sentences/s)")
    for tool in chosen.tools or TOOLS:
        with tempfile.TemporaryDirectory() as name:
            for race in TOOLS[tool](chosen.folder.absolute(), sentences, Path(name)):
                wall, cpu = run(race, sentences, Path(name), chosen.folder.absolute(), chosen.rounds)
                rates = f"{len(sentences) / wall.ours:8.1f} {len(sentences) / wall.bare:8.1f}"
                print(
                    f"{race.what:28} {rates:>30} {wall.ours / wall.bare:14.3f} {cpu.ours / cpu.bare:6.3f}", flush=True
                )


class Times(NamedTuple):
    """The best seconds of both."""

    ours: float
    bare: float


def run(race: Race, sentences: list[Words], work: Path, folder: Path, rounds: int) -> tuple[Times, Times]:
    """Give wall and CPU times."""
    rows = [{"id": n, "source_words": words, "origin": "x"} for n, words in enumerate(sentences)]
    missing = {field.name: "" for field in PAIR_SCHEMA if field.name not in rows[0]}
    write_rows(work / "corpus.parquet", PAIR_SCHEMA, [{**row, **missing, "target_words": []} for row in rows])

    def ours() -> None:
        annotate_shard(
            race.settings,
            corpus=work / "corpus.parquet",
            raw=work / "none",
            side="source",
            language=race.language,
            shard=0,
            shards=1,
            output=work / "annotation.parquet",
            model_folders=(folder, folder / "models", work),
        )

    wall: tuple[list[float], list[float]] = ([], [])
    cpu: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for side, way in enumerate((ours, race.bare)):
            start, used = time.perf_counter(), sum(os.times()[:4])
            way()
            wall[side].append(time.perf_counter() - start)
            cpu[side].append(sum(os.times()[:4]) - used)
    return Times(*map(min, wall)), Times(*map(min, cpu))


if __name__ == "__main__":
    main()
