"""The systems of bugliarello2020 have the peak learning rate and beta2 of its released training commands."""

from dataclasses import replace
from pathlib import Path

import pytest
from published_claims import paper_claims

from nmtcore.config.project import Project
from nmtcore.config.published import read_paper

COLUMNS = ["nc11_en2de", "nc11_de2en", "wmt18_en2tr", "wmt16_en2de", "wmt17_en2de", "wat_en2ja"]
RELEASED = {
    "transformer_base": [(0.001, 0.997)] * 6,
    "sennrich_haddow": [(0.0007, 0.997)] * 3 + [(0.001, 0.997)] * 3,
    "currey_heafield": [(0.0007, 0.997), (0.0007, 0.98), (0.0007, 0.997), *[(0.001, 0.997)] * 2, (0.0007, 0.98)],
    "sisa": [(0.0007, 0.997), (0.0007, 0.98), (0.0007, 0.98), (0.0007, 0.997), (0.0007, 0.997), (0.001, 0.997)],
    "pascal": [(0.0007, 0.997), (0.0007, 0.997), (0.0007, 0.98), (0.0007, 0.98), (0.0007, 0.997), (0.0007, 0.997)],
}
"""Peak and beta2 by system and data set (`COLUMNS`)."""


@pytest.fixture(scope="module")
def project(root: Path) -> Project:
    return Project.load(root / "config")


def row_of(project: Project, system: str) -> str:
    """The row of a system: its own, that of the system it is a variant of, or the baseline's."""
    if system == "transformer_base_pascal_rate":
        return "pascal"
    own = project.system_entries[system][0].stem == "bugliarello2020"
    return next((row for row in RELEASED if own and system.startswith(row)), "transformer_base")


def twins_of(project: Project, dataset: str) -> list[str]:
    """A data set of the paper, its filtered twin, and the rehearsals of both."""
    return [d for d in project.dataset_files if d.removeprefix("rehearsal_").removesuffix("_filtered") == dataset]


@pytest.mark.parametrize("dataset", COLUMNS)
def test_every_system_has_the_released_settings_on_every_data_set(project: Project, dataset):
    """At paper scale; filtered data sets and rehearsals have the same rates as the original."""
    twins = twins_of(project, dataset)
    assert len(twins) == (4 if dataset[:5] in ("nc11_", "wmt16") else 2)
    needing_treebanks = {"depparse_gold", "depparse_gold_only"}
    papers = project.recipe_files.keys() - {"aycock2021"}  # whose systems need tags that these data sets lack
    published = [name for name, (path, _) in project.system_entries.items() if path.stem in papers]
    rows = {system: row_of(project, system) for system in published if system not in needing_treebanks}
    assert list(rows.values()).count("pascal") == 24
    assert list(rows.values()).count("sisa") == 7
    for system, row in rows.items():
        for twin in twins:
            training = project.run(twin, system, "paper", 1).training
            peak, beta2 = RELEASED[row][COLUMNS.index(dataset)]
            assert (training.schedule.peak, training.betas) == (peak, (0.9, beta2)), (twin, system)
            assert (training.schedule.kind, training.schedule.warmup) == ("inverse_sqrt", 8000)


def test_transformer_base_pascal_rate_only_differs_from_the_baseline_in_training(project: Project):
    for dataset in COLUMNS:
        base, twin, pascal = (
            project.run(dataset, name, "paper", 1)
            for name in ("transformer_base", "transformer_base_pascal_rate", "pascal")
        )
        assert twin.training == pascal.training != base.training
        assert twin == replace(base, system=twin.system, training=pascal.training)


def test_the_table_equals_the_published_one(project: Project):
    table = read_paper(project, "bugliarello2020").tables["released_training"]
    assert list(dict.fromkeys(column.dataset for column in table.columns)) == COLUMNS
    for system, row in RELEASED.items():
        for dataset, values in zip(COLUMNS, row, strict=True):
            assert values == tuple(table.value(system, f"{dataset}/{name}") for name in ("learning_rate", "beta2"))
    assert {row.name for row in table.rows} == set(RELEASED)


def test_the_control_of_a_gain_has_the_learning_rate_of_the_system(project: Project):
    """Where the baseline has another one; Adam's beta2 differs in two cases."""
    other_beta2 = set()
    for claim in paper_claims(read_paper(project, "bugliarello2020")):
        if claim.direction != "gain" or claim.baseline.system != "transformer_base":
            continue
        dataset = str(claim.system.dataset).removesuffix("_filtered")
        base, control, system = (
            project.run(dataset, name, "paper", 1).training
            for name in ("transformer_base", "transformer_base_pascal_rate", claim.system.system)
        )
        controls = [control.system for control in claim.controls]
        if claim.system.system != "transformer_base":
            named = "transformer_base_pascal_rate" in controls
            assert named == (system.schedule.peak != base.schedule.peak), claim
            assert not named or system.schedule.peak == control.schedule.peak, claim
            if named and system.betas != control.betas:
                other_beta2.add((claim.system.system, dataset))
    assert other_beta2 == {("sisa", "nc11_de2en"), ("sisa", "wmt16_en2de")}
