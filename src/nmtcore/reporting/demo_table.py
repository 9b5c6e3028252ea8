"""What the demo shows at its end: tables, what they mean, and commands to type next."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from nmtcore.evaluation.compare import ONE_SEED, holm
from nmtcore.evaluation.subsets import FEW
from nmtcore.files import write_json
from nmtcore.reporting.difference_columns import difference_columns
from nmtcore.reporting.pages import write_page
from nmtcore.reporting.parts import few_mark
from nmtcore.reporting.table import (
    Column,
    Heading,
    Interval,
    Items,
    Page,
    SeedMean,
    Table,
    TableCell,
    item_blocks,
    make_table,
    number_columns,
    text_columns,
)
from nmtcore.reporting.terminal_table import terminal_table

LEVEL_OF_TESTS = 0.05
"""The level below which a p-value, corrected by Holm's method, is called significant."""

WIDTH = 80
"""Columns of text on the terminal."""

_MODEL = "{folder}/{scale}/{dataset}/{system}/seed{seed}/model"

_COMMANDS = """\
Next, type for example (translate a sentence; see its tree and the attention;
count how often each system finds the right translation more probable than a
wrong one):

source .venv/bin/activate
MODEL={model}
echo "He says that she sleeps." | nmtcore translate $MODEL
echo "He says that she sleeps." | nmtcore show $MODEL > page.html
snakemake --cores 2 {folder}/tables/contrast.md --config scale={scale}
"""


def write_demo_table(results: Mapping[str, Any], *, json: Path, table: Path) -> str:
    """Write the results of the demo (`demo_results`) as JSON and as a page in all formats; return the Markdown."""
    write_json(json, results)
    blocks = (
        *item_blocks(results["empty"]),
        _score_table(results),
        Items(tuple(meaning(results))),
        Heading("BLEU by construction"),
        _construction_table(results),
        Items(tuple(construction_meaning(results))),
    )
    return write_page(Page(title="The demo", blocks=blocks), table)


def demo_text(results: Mapping[str, Any], *, folder: str = "results") -> str:
    """Make the text for the terminal; `folder` is that of all results."""
    system = next((own["system"] for own in results["systems"] if own["uas"]), results["baseline"])
    names = {key: results[key] for key in ("scale", "dataset")}
    model = _MODEL.format(folder=folder, system=system, seed=results["seeds"][0], **names)
    parts = [
        *([_wrapped(results["empty"])] if results["empty"] else []),
        _score_text(results),
        _wrapped(meaning(results)),
        _construction_text(results),
        _wrapped(construction_meaning(results)),
        _COMMANDS.format(folder=folder, model=model, scale=results["scale"]),
    ]
    return "\n".join(parts)


def _wrapped(sentences: Sequence[str]) -> str:
    """Make a list whose lines do not begin with a percent sign."""
    kept = (sentence.replace(" %", "\N{NO-BREAK SPACE}%") for sentence in sentences)
    lines = (fill(sentence, WIDTH, subsequent_indent="  ", initial_indent="- ") for sentence in kept)
    return "".join(f"{line}\n" for line in lines).replace("\N{NO-BREAK SPACE}", " ")


def meaning(results: Mapping[str, Any]) -> list[str]:
    """Say in sentences what the scores mean."""
    others = [own for own in results["systems"] if own["difference"]]
    sentences = [_difference_sentence(own, results) for own in others]
    if others:
        sentences.append(_noise_sentence(results, max(own["difference"]["detectable"] for own in others)))
    return sentences + [_head_sentence(own, results["neighbour"]) for own in others if own["uas"]]


def _difference_sentence(own: Mapping[str, Any], results: Mapping[str, Any]) -> str:
    compared, system, baseline = own["difference"], own["system"], results["baseline"]
    low, high = compared["interval"]
    if round(compared["delta"], 1) == 0:
        scored = f"{system} and {baseline} score the same, to one decimal of BLEU"
    else:
        direction = "more" if compared["delta"] > 0 else "less"
        scored = f"{system} scores {abs(compared['delta']):.1f} points of BLEU {direction} than {baseline}"
    if low <= 0 <= high:
        verdict = f"the interval includes 0, so these {results['sentences']:,} sentences do not tell which is better"
    else:
        verdict = "the interval excludes 0, so the choice of test sentences does not explain it"
    return f"{scored} (95 % interval {low:+.1f} to {high:+.1f}): {verdict}."


def _noise_sentence(results: Mapping[str, Any], detectable: float) -> str:
    seeds = results["seeds"]
    needed = f"A difference would have to be about {detectable:.1f} points to be found reliably"
    if len(seeds) > 1:
        return f"{needed}. The intervals count the noise of {len(seeds)} seeds and of the test's sentences."
    return f"{needed} if training made no noise. An interval from one seed {ONE_SEED}."


def _head_sentence(own: Mapping[str, Any], neighbour: Mapping[str, Any]) -> str:
    uas = own["uas"]["mean"]
    if own["system"].startswith("diagonalparse"):
        return f"The control head of {own['system']} points to the previous word for {uas:.1f} % of the words."
    more = "more" if uas > neighbour["share"] else "no more"
    return (
        f"The head of {own['system']} finds the governor of {uas:.1f} % of the words, {more} than the "
        f"{neighbour['share']:.1f} % that always pointing to the {neighbour['word']} word would find."
    )


def construction_meaning(results: Mapping[str, Any]) -> list[str]:
    """Say in sentences which differences by construction are significant, and which sentences are too few.

    With one seed none is: its p-values leave out the noise of training.
    """
    tests = {(construction, system): compared for construction, system, compared in _tests(results)}
    corrected = holm({name: compared["p"] for name, compared in tests.items()})
    sentences = ["Each row is scored on the sentences that show the construction; ± gives the 95 % interval."]
    if tests and len(results["seeds"]) == 1:
        sentences.append("With one seed, none of these differences can be called significant.")
    elif tests:
        significant = [
            f"{system} on {construction} ({tests[construction, system]['delta']:+.1f})"
            for (construction, system), p in corrected.items()
            if p is not None and p < LEVEL_OF_TESTS
        ]
        count = (
            f"{len(significant) or 'None'} of the {len(tests)} differences {'are' if len(significant) > 1 else 'is'}"
        )
        names = f": {', '.join(significant)}" if significant else ""
        correction = f"p < {LEVEL_OF_TESTS:g} with Holm's correction for so many comparisons"
        sentences.append(f"{count} significant ({correction}){names}.")
    if few := [row["construction"] for row in results["constructions"] if row["sentences"] < FEW]:
        sentences.append(f"Fewer than {FEW} sentences, too few to compare: {', '.join(few)}.")
    return sentences


def _tests(results: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the construction, the system and the difference of each comparison on enough sentences."""
    for row in results["constructions"]:
        for system, own in row["systems"].items():
            if row["sentences"] >= FEW and own["difference"]:
                yield row["construction"], system, own["difference"]


def _score_text(results: Mapping[str, Any]) -> str:
    rows = [
        [
            own["system"],
            *(_shown(own[key]) for key in ("bleu", "chrf", "uas")),
            _plus_minus(own["difference"]) if own["difference"] else None,
        ]
        for own in results["systems"]
    ]
    return terminal_table(["system", "BLEU", "chrF", "UAS of the head", "difference in BLEU"], rows)


def _shown(summary: Mapping[str, Any] | None) -> str | None:
    if summary is None:
        return None
    return f"{summary['mean']:.1f}" + ("" if summary["stdev"] is None else f" ± {summary['stdev']:.1f}")


def _plus_minus(compared: Mapping[str, Any]) -> str:
    """Write a difference with half the length of its interval."""
    low, high = compared["interval"]
    return f"{compared['delta']:+.1f} ± {(high - low) / 2:.1f}"


def _construction_text(results: Mapping[str, Any]) -> str:
    names = [own["system"] for own in results["systems"]]
    others = [name for name in names if name != results["baseline"]]
    rows = []
    for row in results["constructions"]:
        scores = [row["systems"][name] for name in names]
        few = few_mark(row["sentences"])
        cells = [
            own and f"{own['bleu']:.1f}" + (f" ({_plus_minus(own['difference'])})" if own["difference"] else "")
            for own in scores
        ]
        rows.append([row["construction"], f"{row['sentences']:,}{few}", *cells])
    return terminal_table(["BLEU by construction", "sentences", "baseline", *others], rows)


def _score_table(results: Mapping[str, Any]) -> Table:
    numbers = number_columns("BLEU", "chrF", "UAS of the head", content="mean", digits=1)
    rows = [
        [own["system"], *(SeedMean.of(own[key]) for key in ("bleu", "chrf", "uas")), *_cells(own["difference"])]
        for own in results["systems"]
    ]
    return make_table([*text_columns("system"), *numbers, *difference_columns("difference in BLEU")], rows)


def _construction_table(results: Mapping[str, Any]) -> Table:
    rows = [
        [
            row["construction"],
            TableCell(row["sentences"], few_mark(row["sentences"])),
            system,
            own and own["bleu"],
            *_cells(own and own["difference"]),
        ]
        for row in results["constructions"]
        for system, own in row["systems"].items()
    ]
    columns = [
        *text_columns("construction"), *number_columns("sentences"), *text_columns("system"),
        Column(name="BLEU", content="number", digits=1), *difference_columns(),
    ]  # fmt: skip
    return make_table(columns, rows)


def _cells(compared: Mapping[str, Any] | None) -> list[Any]:
    return [None, None] if compared is None else [compared["delta"], Interval(*compared["interval"])]
