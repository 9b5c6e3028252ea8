"""The systems of bugliarello2020 have the settings of its Table 2 and of its released training commands."""

from dataclasses import replace
from itertools import product

import pytest
from published_claims import paper_claims

from nmtcore.config.project import Project
from nmtcore.tables.papers import Paper, read_paper

COLUMNS = ["nc11_en2de", "nc11_de2en", "wmt18_en2tr", "wmt16_en2de", "wmt17_en2de", "wat_en2ja"]


@pytest.fixture(scope="module")
def paper(project: Project) -> Paper:
    return read_paper(project, "bugliarello2020")


def row_of(project: Project, rows: list[str], system: str) -> str:
    """The row of a system: its own, that of the system it is a variant of, or the baseline's."""
    if system == "transformer_base_pascal_rate":
        return "pascal"
    own = project.system_entries[system][0].stem == "bugliarello2020"
    return next((row for row in rows if own and system.startswith(row)), "transformer_base")


def twins_of(project: Project, dataset: str) -> list[str]:
    """A data set of the paper, its filtered twin, and the rehearsals of both."""
    return [d for d in project.dataset_files if d.removeprefix("rehearsal_").removesuffix("_filtered") == dataset]


def systems_of_the_paper(project: Project, prefix: str) -> list[str]:
    """The paper's systems whose names begin with `prefix`; a user may have similar ones in other files."""
    systems = project.system_entries.items()
    return [name for name, (path, _) in systems if path.stem == "bugliarello2020" and name.startswith(prefix)]


@pytest.mark.parametrize("dataset", COLUMNS)
def test_every_system_has_the_released_settings_on_every_data_set(project: Project, paper: Paper, dataset):
    """At paper scale; filtered data sets and rehearsals have the same rates as the original."""
    twins = twins_of(project, dataset)
    assert len(twins) == (4 if dataset[:5] in ("nc11_", "wmt16") else 2)
    needing_treebanks = {"depparse_gold", "depparse_gold_only"}
    papers = project.recipe_files.keys() - {"aycock2021"}  # whose systems need tags that these data sets lack
    published = [name for name, (path, _) in project.system_entries.items() if path.stem in papers]
    table = paper.tables["released_training"]
    names = [row.name for row in table.rows]
    rows = {system: row_of(project, names, system) for system in published if system not in needing_treebanks}
    assert list(rows.values()).count("pascal") == 24
    assert list(rows.values()).count("sisa") == 7
    for system, row in rows.items():
        peak, beta2 = (table.cell(row, f"{dataset}/{metric}").published for metric in ("learning_rate", "beta2"))
        for twin in twins:
            training = project.run(twin, system, "paper", 1).training
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


@pytest.mark.parametrize("dataset", COLUMNS)
def test_pascal_has_the_published_settings(project: Project, paper: Paper, dataset):
    beta2, heads, ignoring = (
        paper.tables["table_2"].cell(dataset, name).published for name in ("beta2", "heads", "parent_ignoring")
    )
    ablations = systems_of_the_paper(project, "pascal")
    assert len(ablations) == 23
    for twin, system in product(twins_of(project, dataset), ablations):
        run = project.run(twin, system, "smoke", 1)
        (pascal,) = run.components.values()
        assert pascal.heads == (int(system[-1]) if "heads" in system else heads)
        assert pascal.ignoring == (0 if "no_ignoring" in system else ignoring)
        assert run.training.betas == (0.9, beta2)
        assert pascal.variance == (int(system.split("_")[-1]) if "variance" in system else 1)
        assert pascal.parent_only == ("parent_only" in system)
        layers = (int(system[-1]) - 1,) if "_layer_" in system else tuple(range(6 if "all_layers" in system else 1))
        assert pascal.layers == layers


def test_names_of_sisa_systems_count_layers_from_1(project: Project):
    for name in systems_of_the_paper(project, "sisa"):
        (sisa,) = project.run("nc11_en2de", name, "paper", 1).components.values()
        assert (sisa.layer, sisa.head) == (int(name[-1]) - 1 if "layer" in name else 0, 0)


def test_the_control_of_a_gain_has_the_learning_rate_of_the_system(project: Project, paper: Paper):
    """Where the baseline has another one; Adam's beta2 differs in two cases."""
    other_beta2 = set()
    for claim in paper_claims(paper):
        if (claim.direction, claim.compares) != ("gain", "difference") or claim.baseline.system != "transformer_base":
            continue
        dataset = str(claim.system.dataset).removesuffix("_filtered")
        base, control, system = (
            project.run(dataset, name, "paper", 1).training
            for name in ("transformer_base", "transformer_base_pascal_rate", claim.system.system)
        )
        controls = [control.system for control, _ in claim.controls]
        if claim.system.system != "transformer_base":
            named = "transformer_base_pascal_rate" in controls
            assert named == (system.schedule.peak != base.schedule.peak), claim
            assert not named or system.schedule.peak == control.schedule.peak, claim
            if named and system.betas != control.betas:
                other_beta2.add((claim.system.system, dataset))
    assert other_beta2 == {("sisa", "nc11_de2en"), ("sisa", "wmt16_en2de")}
