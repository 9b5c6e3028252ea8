"""The tables and figures that show our results next to those of a paper, from `config/tables/PAPER.yaml`."""

import re
from collections.abc import Container, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from nmtcore.config.catalogue import Catalogue
from nmtcore.config.cells import Number
from nmtcore.config.files import NamedFiles, named_files
from nmtcore.config.own_code import own_names
from nmtcore.config.published import (
    ClaimSettings,
    Paper,
    PaperSettings,
    PublishedTableSettings,
    make_paper,
    paper_names,
    read_paper,
    row_system,
)
from nmtcore.config.ranges import Seed, settings_class
from nmtcore.config.typed import build, choose
from nmtcore.config.yaml_files import read_yaml
from nmtcore.errors import UserError

TableKind = Literal[
    "scores",
    "differences",
    "time",
    "lengths",
    "constructions",
    "examples",
    "curves",
    "gates",
    "trees",
    "sharpness",
    "attention",
]
"""What a table shows: numbers, of which the metric says what is measured (`scores`; `differences` also draws those from
the baselines, and `time` draws times); scores of parts of a test; sentences; or a drawing with a table below it."""

TRANSLATION_MEASURES = ("bleu", "chrf", "ribes", "multi_bleu")
"""Measures of translations that are computed from the texts."""

SEGMENT_MEASURES = ("comet",)
"""Measures of translations whose scores of segments need an environment and a model."""

ATTACHMENT_MEASURES = ("uas", "diagonal_precision")
"""Measures of heads."""

INDUCTION_MEASURES = ("directed", "undirected", "undirected_predicted_edges")
"""Measures of induced trees."""

TRAINING_MEASURES = (
    "first_loss", "last_loss", "updates", "tokens_per_second", "seconds", "relative_time", "seconds_per_update",
    "seconds_per_validation", "validations", "training_time",
)  # fmt: skip
"""Measures of training, from its log."""

SIZES = (
    "pairs", "copied_sentences", "source_tokens", "target_tokens", "english_subwords", "other_subwords", "types",
    "types_with_specials", "english_words_unsplit", "english_words_of_at_most_7_subwords", "dropped_by_langdetect",
)  # fmt: skip
"""Measures of data sets."""

SETTINGS = ("learning_rate", "beta1", "beta2", "heads", "parent_ignoring")
"""Settings of runs, at the scale of the papers."""

MEASURES = (
    *TRANSLATION_MEASURES, *SEGMENT_MEASURES, *ATTACHMENT_MEASURES, *INDUCTION_MEASURES, *TRAINING_MEASURES, *SIZES,
    *SETTINGS, "share",
)  # fmt: skip
"""What cells can measure; `nmtcore.measures` says how."""

GAIN = "_gain"
"""Ending of a metric that is the difference from the baseline."""

NUMBERS = ("scores", "differences", "time")
"""The kinds whose columns name what is measured."""

FIGURES_OF_KINDS = (
    "differences", "curves", "lengths", "constructions", "time", "gates", "trees", "sharpness", "attention"
)  # fmt: skip
"""The kinds that also draw a figure."""


@settings_class
class PaperTableSettings:
    """A table or figure of results."""

    kind: TableKind
    """What it shows."""
    added: tuple[str, ...] = ()
    """Rows that the paper's table lacks: controls, baselines trained like the systems that they belong to, external
    systems."""
    facts: dict[str, Number] = field(default_factory=dict)
    """Numbers that the kind reads (`layer`, `first_sentences`...), in addition to the paper's."""
    sentence: str = ""
    """Of a table of examples: the source sentence that it shows if the test has it; spaces before punctuation, and case
    do not matter."""
    place: str = ""
    """Of a table without a published one: its heading."""
    description: str = ""
    """Of a table without a published one: what it shows."""
    rows: tuple[str, ...] = ()
    """Of a table without a published one: its systems."""
    columns: tuple[str, ...] = ()
    """Of a table without a published one: its columns, DATASET/SPLIT/METRIC."""
    baselines: tuple[str, ...] = ()
    """Of a table without a published one: systems that others are compared with; the first counts most."""
    claims: tuple[ClaimSettings, ...] = ()
    """Of a table without a published one: what is claimed about it."""


@settings_class
class PaperTablesSettings:
    """The tables and figures of a paper, published or the user's own."""

    title: str = ""
    """Title, if no file in `published/` has it."""
    measures: dict[str, str] = field(default_factory=dict)
    """The measures that the paper's metrics stand for: {bleu: multi_bleu} or, if its model is there, {bleu: comet};
    metrics not named here are their own."""
    seeds: dict[str, tuple[Seed, ...]] = field(default_factory=dict)
    """Systems that are run with other seeds than those of config.yaml, at scales with `verdicts`."""
    controls: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Of tables without published ones: systems that gain without what a system is claimed to gain by."""
    tables: dict[str, PaperTableSettings]
    """The tables and figures by name; most have the name of a published table."""

    def __post_init__(self) -> None:
        for system, seeds in self.seeds.items():
            if not seeds or len(set(seeds)) < len(seeds):
                raise ValueError(f"seeds.{system} must be a list of different numbers, at least one")


_TABLE_NAME = "[a-z0-9]+(?:_[a-z0-9]+)*"


class PaperTables(NamedTuple):
    """The tables of a paper: what it published, and what we show."""

    paper: Paper
    settings: PaperTablesSettings


def paper_table_files(catalogue: Catalogue) -> NamedFiles:
    """Return the files of `tables/` by name."""
    return named_files(catalogue.folders, "tables", noun="paper")


def read_paper_tables(catalogue: Catalogue, name: str, *, where: str = "the target") -> PaperTables:
    """Read the tables of a paper.

    Raises:
        UserError: if there is no such file; if it lacks a published table, or names rows, columns or systems that do
            not exist. The message names the file and the table.
    """
    files = paper_table_files(catalogue)
    files.check(name, where=where)
    path = files[name]
    settings = build(PaperTablesSettings, read_yaml(path), where=str(path))
    published = read_paper(catalogue, name) if name in paper_names(catalogue) else None
    paper = _with_own_tables(catalogue, name, path, settings, published)
    for table, own in settings.tables.items():
        for system in own.added:
            catalogue.systems.check(row_system(system), where=f"{path}: tables.{table}")
    if missing := paper.tables.keys() - settings.tables.keys():
        raise UserError(f"{path}: tables lacks {', '.join(sorted(missing))}, which {paper.path} has.")
    for system in settings.seeds:
        choose(system, paper_systems(paper, settings), noun="system of its tables", where=f"{path}: seeds")
    return PaperTables(paper, settings)


def _check_measures(settings: PaperTablesSettings, published: Container[str], *, where: str) -> None:
    """Check the names of own tables, and that their columns have scores that can be computed."""
    measures = [*MEASURES, *own_names("metrics")]
    for metric, measure in settings.measures.items():
        choose(measure, measures, noun="measure", where=f"{where}: measures.{metric}")
    for name, table in settings.tables.items():
        if not re.fullmatch(_TABLE_NAME, name):
            raise UserError(f"{where}: tables: '{name}': a name has small letters, digits and single underscores.")
        if table.rows and not table.columns and name not in published:
            raise UserError(f"{where}: tables.{name}: name the `columns` that the rows have, DATASET/SPLIT/METRIC.")
        for column in table.columns if table.kind in NUMBERS else ():
            metric = column.rpartition("/")[2]
            if column.count("/") == 2 and metric not in settings.measures:
                choose(metric, measures, noun="metric", where=f"{where}: tables.{name}: columns: {column}")


def paper_systems(paper: Paper, settings: PaperTablesSettings) -> list[str]:
    """List the systems of the published tables and those that are added, each once."""
    added = [row_system(row) for table in settings.tables.values() for row in table.added]
    return list(dict.fromkeys([*paper.systems, *added]))


def _with_own_tables(
    catalogue: Catalogue, name: str, path: Path, settings: PaperTablesSettings, published: Paper | None
) -> Paper:
    """Return the published paper with the tables that only `settings` has."""
    known: Mapping[str, object] = published.tables if published else {}
    _check_measures(settings, known, where=str(path))
    own = {table: _own_table(values) for table, values in settings.tables.items() if table not in known}
    for table in settings.tables.keys() - own.keys():
        if settings.tables[table].rows or settings.tables[table].columns:
            raise UserError(f"{path}: tables.{table}: the published table has rows and columns: leave them out here.")
    for table in own:  # before baselines and claims, which name rows
        for row in settings.tables[table].rows:
            catalogue.systems.check(row_system(row), where=f"{path}: tables.{table}: rows")
    if published and not own:
        return published
    title = published.settings.title if published else settings.title or name
    values = PaperSettings(title=title, controls=settings.controls, tables=own)
    made = make_paper(catalogue, name, path, values)
    if published is None:
        return made
    both = {**published.settings.tables, **own}
    return published._replace(
        tables={**published.tables, **made.tables}, settings=replace(published.settings, tables=both)
    )


def _own_table(settings: PaperTableSettings) -> PublishedTableSettings:
    return PublishedTableSettings(
        place=settings.place,
        description=settings.description,
        baselines=settings.baselines,
        columns=settings.columns,
        rows={row: (None,) * len(settings.columns) for row in settings.rows},
        claims=settings.claims,
    )
