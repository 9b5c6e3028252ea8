"""Pairs a second of the filters by language, ours (`filter_split`, from Parquet to Parquet) beside the bare libraries.

    python benchmarks/filters.py FOLDER [--pairs N] [--rounds N] [--processes N]

FOLDER is the folder of real corpora (news/en-de/). The bare library is a loop over the lines of both sides in the same
number of processes, each with the same share of them, in chunks, without reading, writing or counting; a pair with a
wrong first side skips the second there too. Both start with nothing loaded, in a process of their own, whose peak
memory is measured, with that of its largest child. They run in turns; the best round of each counts. The same pairs
must be left.
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from nmtcore.config.filters import LangDetectSettings, LinguaSettings
from nmtcore.config.stages import FilteringSettings
from nmtcore.corpus.filter import filter_split
from nmtcore.corpus.filters.lingua import FREQUENT
from nmtcore.corpus.pairs import RAW_SCHEMA
from nmtcore.parquet import read_rows, write_rows

CHUNK = 1_000
RACES = {
    "langdetect, all profiles": LangDetectSettings(),
    "langdetect, 4 profiles": LangDetectSettings(profiles=("cs", "de", "en", "fr")),
    "lingua, 12 languages": LinguaSettings(),
    "lingua, 4 languages": LinguaSettings(languages=("cs", "fr")),
}


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    sides = [
        (chosen.folder / f"news/en-de/train.{code}").read_text(encoding="utf-8").split("\n") for code in ("en", "de")
    ]
    pairs = list(zip(*sides, strict=True))[: chosen.pairs]
    print(f"{'':26} {'ours':>8} {'bare':>8}   ratio   (pairs/s; MB of the process and of its largest child)")
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "train.parquet"
        write_rows(raw, RAW_SCHEMA, map(raw_row, range(len(pairs)), pairs))
        for name, settings in RACES.items():
            ways = [(ours, (raw, settings, chosen.processes)), (bare, (pairs, settings, chosen.processes))]
            race(name, ways, len(pairs), chosen.rounds)


def race(name: str, ways: list[tuple[Callable, tuple]], pairs: int, rounds: int) -> None:
    """Run both ways in turns and print the best times; they must leave the same pairs."""
    results: list[list] = [[], []]
    for _ in range(rounds):
        for way, (function, arguments) in enumerate(ways):
            results[way].append(apart(function, *arguments))
    assert len({tuple(kept) for each in results for kept, *_ in each}) == 1, name
    rates = [pairs / min(seconds for _, seconds, _ in each) for each in results]
    memory = ", ".join("{} + {}".format(*each[0][2]) for each in results)
    print(f"{name:26} {rates[0]:8.0f} {rates[1]:8.0f} {rates[0] / rates[1]:7.2f}   ({memory})", flush=True)


def apart(function: Callable, *arguments: Any) -> tuple[list[int], float, tuple[int, int]]:
    """Call a function in a process of its own; give its result, seconds and megabytes."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(timed, function, *arguments).result()


def timed(function: Callable, *arguments: Any) -> tuple[list[int], float, tuple[int, int]]:
    """Measure a call, without starting the process."""
    start = time.perf_counter()
    result = function(*arguments)
    seconds = time.perf_counter() - start
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return result, seconds, tuple(resource.getrusage(each).ru_maxrss >> 10 for each in who)


def ours(raw: Path, settings: LangDetectSettings | LinguaSettings, processes: int) -> list[int]:
    """Filter a file; give the rows that are left."""
    filtering = FilteringSettings(languages={"source": "en", "target": "de"}, filters=(settings,))
    output = raw.parent / "kept" / "train.parquet"
    report = output.with_suffix(".json")
    filter_split(
        filtering, dataset="benchmark", raw=raw, other_raws={}, output=output, report=report, processes=processes
    )
    return [row["id"] for row in read_rows(output, columns=["id"])]


def bare(pairs: list[tuple[str, str]], settings: LangDetectSettings | LinguaSettings, processes: int) -> list[int]:
    """Loop over the pairs in several processes; give the rows that are left."""
    load, loop = (
        (load_lingua, loop_lingua) if isinstance(settings, LinguaSettings) else (load_langdetect, loop_langdetect)
    )
    chunks = [pairs[first : first + CHUNK] for first in range(0, len(pairs), CHUNK)]
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(processes, mp_context=context, initializer=load, initargs=(settings,)) as pool:
        fine = [each for chunk in pool.map(loop, chunks) for each in chunk]
    return [row for row, keep in enumerate(fine) if keep]


def load_langdetect(settings: LangDetectSettings) -> None:
    """Load the library in one of the processes."""
    global langdetect, factory
    import langdetect
    from langdetect import detector_factory

    langdetect.DetectorFactory.seed = settings.seed
    factory = langdetect.DetectorFactory()
    folder = Path(detector_factory.PROFILES_DIRECTORY)
    names = settings.profiles or [path.name for path in folder.iterdir()]
    factory.load_json_profile([(folder / name).read_text(encoding="utf-8") for name in names])


def loop_langdetect(pairs: list[tuple[str, str]]) -> list[bool]:
    """Detect in a loop."""

    def language(text: str) -> str | None:
        detector = factory.create()
        detector.append(text)
        try:
            return detector.detect()
        except langdetect.LangDetectException:
            return None

    return [language(source) == "en" and language(target) == "de" for source, target in pairs]


def load_lingua(settings: LinguaSettings) -> None:
    """Load the library in one of the processes."""
    global lingua, lingua_detector
    import lingua

    others = FREQUENT if settings.languages is None else settings.languages
    codes = [lingua.IsoCode639_1.from_str(code) for code in {"en", "de", *others}]
    lingua_detector = lingua.LanguageDetectorBuilder.from_iso_codes_639_1(*codes).build()


def loop_lingua(pairs: list[tuple[str, str]]) -> list[bool]:
    """Detect in a loop."""
    detect, english, german = lingua_detector.detect_language_of, lingua.Language.ENGLISH, lingua.Language.GERMAN
    return [detect(source) == english and detect(target) == german for source, target in pairs]


def raw_row(number: int, pair: tuple[str, str]) -> dict[str, Any]:
    """Make a row of a raw file."""
    words = {f"{side}_words": text.split() for side, text in zip(("source", "target"), pair, strict=True)}
    return {"id": number, "source": pair[0], "target": pair[1], "origin": f"news:{number + 1}", **words}


if __name__ == "__main__":
    main()
