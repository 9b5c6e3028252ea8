"""The table that `make demo` ends with."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmtcore.evaluation.lines import spread
from nmtcore.files import read_json, write_text


def write_demo_table(*, bleu: Sequence[Path], uas: Sequence[Path], output: Path) -> str:
    """Put the demo systems' scores side by side, as Markdown, into `output`; return the text."""
    heads = {result["system"]: result for result in map(read_json, uas)}
    results = [read_json(path) for path in bleu]
    lines = [
        "| system | BLEU | chrF | UAS of the head | dev BLEU |",
        "|---|---:|---:|---:|---:|",
        *(_row(result, heads.get(result["system"])) for result in results),
    ]
    first = next(iter(results[0]["splits"].values()))
    notes = [
        "",
        f"Data set {results[0]['dataset']}, scale {results[0]['scale']}, seeds {_listed(results[0]['seeds'])}; "
        f"{first['sentences']['values'][0]} test sentences.",
        f"BLEU: {first['bleu_signature']}",
        "UAS: words whose head is right by the argmax of the supervised attention row, punctuation included; for a",
        "diagonalparse system the 'head' is the previous word.",
        "One seed of a small model: differences of a point or two mean nothing here.",
    ]
    text = "\n".join(lines + notes) + "\n"
    write_text(output, text)
    return text


def _row(result: dict[str, Any], heads: dict[str, Any] | None) -> str:
    test = next(iter(result["splits"].values()))
    dev = result["splits"]["dev"]
    uas = "" if heads is None else spread(next(iter(heads["splits"].values()))["argmax"]["uas"])
    cells = [result["system"], spread(test["bleu"]), spread(test["chrf"]), uas, spread(dev["bleu"])]
    return f"| {' | '.join(cells)} |"


def _listed(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))
