"""The table at the end of `make demo`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmtcore.evaluation.lines import spread
from nmtcore.files import read_json, write_text


def write_demo_table(*, bleu: Sequence[Path], uas: Sequence[Path], output: Path) -> str:
    """Write the scores of the demo systems to `output`, as a Markdown table; return the table."""
    heads = {result["system"]: result for result in map(read_json, uas)}
    results = [read_json(path) for path in bleu]
    lines = [
        "| system | BLEU | chrF | UAS of the head | dev BLEU |",
        "|---|---:|---:|---:|---:|",
        *(_demo_row(result, heads.get(result["system"])) for result in results),
    ]
    first = next(iter(results[0]["splits"].values()))
    seeds = ", ".join(map(str, results[0]["seeds"]))
    notes = [
        "",
        f"Data set {results[0]['dataset']}, scale {results[0]['scale']}, seeds {seeds}; "
        f"{first['sentences']['values'][0]} test sentences.",
        f"BLEU: {first['bleu_signature']}",
        "UAS: share of words, punctuation included, whose head is correct by the argmax of the supervised attention",
        "row; for a diagonalparse system, the 'head' is the previous word.",
        "One seed of a small model: differences of one or two points are not meaningful.",
    ]
    text = "\n".join(lines + notes) + "\n"
    write_text(output, text)
    return text


def _demo_row(result: dict[str, Any], heads: dict[str, Any] | None) -> str:
    test = next(iter(result["splits"].values()))
    dev = result["splits"]["dev"]
    uas = "" if heads is None else spread(next(iter(heads["splits"].values()))["argmax"]["uas"])
    cells = [result["system"], spread(test["bleu"]), spread(test["chrf"]), uas, spread(dev["bleu"])]
    return f"| {' | '.join(cells)} |"
