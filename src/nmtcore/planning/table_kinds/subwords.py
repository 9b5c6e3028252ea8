"""Files behind facts about subwords: the subwords of training sentences, and reports on filters."""

from typing import Any

from nmtcore.config.corpora import SIDES
from nmtcore.config.filters import FILTERS
from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project
from nmtcore.planning.paper_tables import our_dataset

ENGLISH = "en"
"""The language whose words are counted."""

SHARES = {
    "words_unsplit_by_bpe_wmt16_en": ("wmt16_en2de", 1),
    "words_of_at_most_7_subwords": ("wmt16_en2de", 7),
}
"""Facts that are shares of English words: the data set, and the most subwords of a word."""

FILTERED = {"pairs_that_langdetect_would_drop_from_wat": ("wat_en2ja", "langdetect")}
"""Facts that are numbers of pairs that a filter drops: the data set and the filter."""


def subwords_inputs(project: Project, table: PlannedTable) -> list[str]:
    """List the subwords of training splits and the reports on filters."""
    facts = subwords_facts(project, table)["facts"].values()
    return [fact[key] for fact in facts for key in ("tokens", "report") if key in fact]


def subwords_facts(project: Project, table: PlannedTable) -> dict[str, Any]:
    """Return where each of the paper's facts comes from, {"facts": {name: source}}.

    A source has the paper's `dataset` and `ours`, and the file `tokens` with the most subwords of a word (`most`), or
    the file `report` with the `filter` to read, or a `reason` why there is no number.
    """
    return {"facts": {name: _source(project, name) for name in table.facts}}


def subwords_stand_ins(project: Project, table: PlannedTable) -> dict[str, str]:
    """Return the data sets of the facts, in place of the paper's."""
    sources = subwords_facts(project, table)["facts"].values()
    return {source["dataset"]: source["ours"] for source in sources if source["ours"] not in (None, source["dataset"])}


def _source(project: Project, name: str) -> dict[str, Any]:
    if name not in SHARES and name not in FILTERED:
        return {"dataset": None, "ours": None, "reason": "it is not computed here"}
    dataset, detail = SHARES.get(name) or FILTERED[name]
    ours, reason = our_dataset(project, dataset)
    names = {"dataset": dataset, "ours": ours}
    if ours is None:
        return {**names, "reason": reason}
    return {**names, **(_tokens(project, ours, detail) if name in SHARES else _report(project, ours, detail))}


def _tokens(project: Project, dataset: str, most: int) -> dict[str, Any]:
    settings = project.dataset(dataset)
    sides = [side for side in SIDES if settings.language(side) == ENGLISH]
    if not sides:
        return {"reason": f"{dataset} has no English side"}
    segmentation = project.segmentation(settings, project.scale(project.settings.scale)).name
    names = {"dataset": dataset, "segmentation": segmentation, "split": "train", "side": sides[0]}
    return {"tokens": project.layout.path("tokens", **names), "most": most, "segmentation": segmentation}


def _report(project: Project, dataset: str, name: str) -> dict[str, Any]:
    if name not in map(FILTERS.name_of, project.dataset(dataset).filters):
        return {"reason": f"{dataset} is not filtered by {name}, so nobody counted the pairs that it would drop"}
    return {"report": project.layout.path("pairs_report", dataset=dataset, split="train"), "filter": name}
