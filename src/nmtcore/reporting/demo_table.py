"""The table at the end of `make demo`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmtcore.files import read_json
from nmtcore.reporting.pages import write_page
from nmtcore.reporting.table import Page, SeedMean, make_table, note, number_columns, text_columns


def write_demo_table(*, bleu: Sequence[Path], uas: Sequence[Path], output: Path) -> str:
    """Write the scores of the demo systems to `output`, as a table in Markdown; return the Markdown."""
    heads = {result["system"]: result for result in map(read_json, uas)}
    results = [read_json(path) for path in bleu]
    numbers = number_columns("BLEU", "chrF", "UAS of the head", "dev BLEU", content="mean", digits=1)
    rows = [_demo_row(result, heads.get(result["system"])) for result in results]
    first = next(iter(results[0]["splits"].values()))
    seeds = ", ".join(map(str, results[0]["seeds"]))
    notes = [
        f"Data set {results[0]['dataset']}, scale {results[0]['scale']}, seeds {seeds}; "
        f"{first['sentences']['values'][0]} test sentences.",
        f"BLEU: {first['bleu_signature']}",
        "UAS: share of words, punctuation included, whose head is correct by the argmax of the supervised attention",
        "row; for a diagonalparse system, the 'head' is the previous word.",
        "One seed of a small model: differences of one or two points are not meaningful.",
    ]
    table = make_table([*text_columns("system"), *numbers], rows)
    return write_page(Page(title="The demo", blocks=(table, note("\n".join(notes)))), output)


def _demo_row(result: dict[str, Any], heads: dict[str, Any] | None) -> list[Any]:
    test = next(iter(result["splits"].values()))
    dev = result["splits"]["dev"]
    uas = None if heads is None else next(iter(heads["splits"].values()))["argmax"]["uas"]
    return [result["system"], *map(SeedMean.of, (test["bleu"], test["chrf"], uas, dev["bleu"]))]
