"""The sections of data sets: sizes after each stage, times, corpora and parsers with their licences."""

from collections.abc import Mapping
from typing import Any

from nmtcore.reporting.data_table import STAGES
from nmtcore.reporting.table import Block, Column, Heading, Paragraph, make_table, number_columns, text_columns


def data_blocks(data: Mapping[str, Any], seconds: Mapping[str, float | None]) -> list[Block]:
    """Make the tables of a data set; `data` is that of its manifests, and `seconds` the time of each stage."""
    stages = ("lines", "read", "filtered", "selected")
    sizes = [[split, *(own.get(stage) for stage in stages)] for split, own in data["splits"].items()]
    times = [[seconds.get(stage) for stage in STAGES]]
    blocks: list[Block] = [
        Paragraph(f"From {data['source']} to {data['target']}. Licence: {data['licence'] or 'unknown'}."),
        *([Paragraph(f"To cite: {data['citation']}")] if data["citation"] else []),
        Heading("Pairs after each stage"),
        make_table([*text_columns("split"), *number_columns(*stages)], sizes),
        Heading("Time of each stage"),
        make_table(number_columns(*STAGES, content="duration"), times),
        Heading("Files"),
    ]
    columns = [*text_columns("corpus or parser", "splits", "licence", "file"), Column(name="SHA-256", content="code")]
    rows = [
        [corpus["corpus"], ", ".join(corpus["splits"]), corpus["licence"] or "unknown", file["name"], file["sha256"]]
        for corpus in data["corpora"]
        for file in corpus["files"]
    ]
    rows += [
        [f"{model['annotator']} ({model['tool']})", None, model["licence"] or "unknown", file["name"], file["sha256"]]
        for model in data["models"]
        for file in model["files"]
    ]
    return [
        *blocks,
        make_table(columns, rows) if rows else Paragraph("The corpora are generated, not read from files."),
    ]
