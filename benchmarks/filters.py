"""Pairs per second of the language filters: ours (`filter_split`, from Parquet to Parquet) and the bare libraries.

    python benchmarks/filters.py FOLDER [--pairs N] [--rounds N] [--processes N]

FOLDER holds real corpora (news/en-de/). The bare library runs in a loop over chunks of pairs, in the same number of
processes, without reading, writing or counting; like ours, it skips the second side of a pair if the first one is in
the wrong language. Each runs in a fresh process, whose peak memory is measured, and that of its largest child. Rounds
alternate; the best round of each counts. Both must keep the same pairs.
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
    """Print the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    sides = [
        (options.folder / f"news/en-de/train.{code}").read_text(encoding="utf-8").split("\n") for code in ("en", "de")
    ]
    pairs = list(zip(*sides, strict=True))[: options.pairs]
    print(f"{'':26} {'ours':>8} {'bare':>8}   ratio   (pairs/s; MB of the process and of its largest child)")
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "train.parquet"
        write_rows(raw, RAW_SCHEMA, map(raw_row, range(len(pairs)), pairs))
        for name, settings in RACES.items():
            implementations = [(ours, (raw, settings, options.processes)), (bare, (pairs, settings, options.processes))]
            race(name, implementations, len(pairs), options.rounds)


def race(name: str, implementations: list[tuple[Callable, tuple]], pairs: int, rounds: int) -> None:
    """Run both implementations alternately and print the best times; they must keep the same pairs."""
    results: list[list] = [[], []]
    for _ in range(rounds):
        for index, (function, arguments) in enumerate(implementations):
            results[index].append(run_in_process(function, *arguments))
    assert len({tuple(kept) for rounds_of_one in results for kept, *_ in rounds_of_one}) == 1, name
    rates = [pairs / min(seconds for _, seconds, _ in rounds_of_one) for rounds_of_one in results]
    memory = ", ".join("{} + {}".format(*rounds_of_one[0][2]) for rounds_of_one in results)
    print(f"{name:26} {rates[0]:8.0f} {rates[1]:8.0f} {rates[0] / rates[1]:7.2f}   ({memory})", flush=True)


def run_in_process(function: Callable, *arguments: Any) -> tuple[list[int], float, tuple[int, int]]:
    """Call a function in a new process; return its result, seconds and megabytes."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(timed, function, *arguments).result()


def timed(function: Callable, *arguments: Any) -> tuple[list[int], float, tuple[int, int]]:
    """Call a function; return its result, seconds and megabytes, without those of starting the process."""
    start = time.perf_counter()
    result = function(*arguments)
    seconds = time.perf_counter() - start
    processes = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return result, seconds, tuple(resource.getrusage(process).ru_maxrss >> 10 for process in processes)


def ours(raw: Path, settings: LangDetectSettings | LinguaSettings, processes: int) -> list[int]:
    """Filter a file; return the rows that are kept."""
    filtering = FilteringSettings(languages={"source": "en", "target": "de"}, filters=(settings,))
    output = raw.parent / "kept" / "train.parquet"
    report = output.with_suffix(".json")
    filter_split(
        filtering, dataset="benchmark", raw=raw, other_raws={}, output=output, report=report, processes=processes
    )
    return [row["id"] for row in read_rows(output, columns=["id"])]


def bare(pairs: list[tuple[str, str]], settings: LangDetectSettings | LinguaSettings, processes: int) -> list[int]:
    """Loop over the pairs in several processes; return the rows that are kept."""
    load, loop = (
        (load_lingua, loop_lingua) if isinstance(settings, LinguaSettings) else (load_langdetect, loop_langdetect)
    )
    chunks = [pairs[first : first + CHUNK] for first in range(0, len(pairs), CHUNK)]
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(processes, mp_context=context, initializer=load, initargs=(settings,)) as pool:
        decisions = [keep for chunk in pool.map(loop, chunks) for keep in chunk]
    return [row for row, keep in enumerate(decisions) if keep]


def load_langdetect(settings: LangDetectSettings) -> None:
    """Load the library in a worker process."""
    global langdetect, factory
    import langdetect
    from langdetect import detector_factory

    langdetect.DetectorFactory.seed = settings.seed
    factory = langdetect.DetectorFactory()
    folder = Path(detector_factory.PROFILES_DIRECTORY)
    names = settings.profiles or [path.name for path in folder.iterdir()]
    factory.load_json_profile([(folder / name).read_text(encoding="utf-8") for name in names])


def loop_langdetect(pairs: list[tuple[str, str]]) -> list[bool]:
    """Detect the languages of all pairs with langdetect."""

    def language(text: str) -> str | None:
        detector = factory.create()
        detector.append(text)
        try:
            return detector.detect()
        except langdetect.LangDetectException:
            return None

    return [language(source) == "en" and language(target) == "de" for source, target in pairs]


def load_lingua(settings: LinguaSettings) -> None:
    """Load the library in a worker process."""
    global lingua, lingua_detector
    import lingua

    others = FREQUENT if settings.languages is None else settings.languages
    codes = [lingua.IsoCode639_1.from_str(code) for code in {"en", "de", *others}]
    lingua_detector = lingua.LanguageDetectorBuilder.from_iso_codes_639_1(*codes).build()


def loop_lingua(pairs: list[tuple[str, str]]) -> list[bool]:
    """Detect the languages of all pairs with lingua."""
    detect, english, german = lingua_detector.detect_language_of, lingua.Language.ENGLISH, lingua.Language.GERMAN
    return [detect(source) == english and detect(target) == german for source, target in pairs]


def raw_row(number: int, pair: tuple[str, str]) -> dict[str, Any]:
    """Return a row of a file of raw pairs."""
    words = {f"{side}_words": text.split() for side, text in zip(("source", "target"), pair, strict=True)}
    return {"id": number, "source": pair[0], "target": pair[1], "origin": f"news:{number + 1}", **words}


if __name__ == "__main__":
    main()
