"""The names of tables and figures of results."""

import re
from collections.abc import Sequence

from nmtcore.config.paper_tables import FIGURES_OF_KINDS
from nmtcore.config.project import Project
from nmtcore.config.typed import choose
from nmtcore.errors import UserError
from nmtcore.layout import CONFIGURED_TABLES, NAME, PLAIN_TABLES
from nmtcore.planning.configured_tables import FIGURES
from nmtcore.planning.paper_tables import all_papers, paper_and_table, table_settings

RESULT_FOLDERS = {"tables": "table", "figures": "figure"}
"""The folders of tables and figures, and what is in them."""


def check_table_name(project: Project, folder: str, parts: Sequence[str], target: str) -> None:
    """Raise `UserError` if there is no table or figure of the path `parts` below a folder.

    Of a paper's table, a figure exists only if its kind draws one.
    """
    table, noun = parts[-1].partition(".")[0], RESULT_FOLDERS[folder]
    papers = all_papers(project)
    if any(table.startswith(f"{paper}_") for paper in papers):
        paper_and_table(project, table, where=target)
        table_kind = table_settings(project, table).kind
        if folder == "figures" and table_kind not in FIGURES_OF_KINDS:
            file = "/".join([project.layout.results, "tables", *parts[:-1], f"{table}.md"])
            raise UserError(
                f"{target}: {table} is a table of {table_kind}, of which no figure is drawn: ask for {file}."
            )
    else:
        others = ["claims", "licences", *papers, *(["demo"] if len(parts) == 1 else [])]
        valid = [*CONFIGURED_TABLES, *PLAIN_TABLES, *others] if folder == "tables" else FIGURES
        choose(table, valid, noun=noun, where=target)
    if len(parts) > 2 or (len(parts) == 2 and not re.fullmatch(NAME, parts[0])):
        file = f"{table}.{'md' if folder == 'tables' else 'svg'}"
        raise UserError(
            f"{target}: a {noun} is {folder}/{file} or {folder}/NAME/{file}, where NAME consists of small letters, "
            "digits and single underscores."
        )
