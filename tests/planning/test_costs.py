"""Estimates of costs: numbers counted by hand, what is unknown, and the sizes of real models and checkpoints."""

import contextlib
import json
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from workflow.calling import little

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.config.assembly import MissingAnnotation
from nmtcore.config.project import Project
from nmtcore.config.systems import read_speeds
from nmtcore.model.build import build_model
from nmtcore.planning.costs import NEWEST, cost_lines, planned_costs, run_bytes, run_updates
from nmtcore.tables.plan import table_inputs, tables_of
from nmtcore.training.checkpoints import KEPT, Checkpoints
from nmtcore.training.state import TrainingState
from nmtcore.training.update import Adam

CONFIG = Path(__file__).parents[2] / "config"
PROJECT = Project.load(CONFIG)
SIZES = {"source": 61, "target": 47}
COLUMNS = ("deprel", "upos", "xpos", "ccg", "random", "dg_a", "dg_b", "lemma", "feats")
LABELS = {
    side: {
        column: (*LABEL_SPECIALS, *(f"{column}{i}" for i in range(5 * n + first))) for n, column in enumerate(COLUMNS)
    }
    for first, side in ((1, "source"), (2, "target"))
}
UNTRAINED = {*PROJECT.systems.external, *PROJECT.systems.imported}
SYSTEMS = [name for name in PROJECT.system_entries if not UNTRAINED & {name, PROJECT.system(name).start_from}]
SPEEDS = {"scales": {"smoke": {"cpu": {"transformer": 2, "nm*": 3}, "gpu": {"transformer": 0.5}}}}


@pytest.fixture
def costs_of(make_project):
    """Estimate the costs of runs, {system: seeds}, on the data set `tiny` at scale smoke."""

    def estimate(on_gpu=False, **systems):
        project = make_project(files={"speeds": SPEEDS}, tiny=little())
        runs = [project.run("tiny", system, "smoke", seed) for system, seeds in systems.items() for seed in seeds]
        return planned_costs(project, runs, on_gpu=on_gpu)

    return estimate


def write_manifest(system, seed, seconds, **changes):
    folder = Path(f"results/smoke/tiny/{system}/seed{seed}")
    folder.mkdir(parents=True, exist_ok=True)
    names = {"dataset": "tiny", "system": system, "scale": "smoke", "seed": seed, "state": "finished"}
    training = {"gpus": 0, "threads": 2, "updates": 100, "training_seconds": seconds}
    (folder / "manifest.json").write_text(json.dumps(names | training | changes))


def test_costs_are_what_a_count_by_hand_gives(costs_of):
    costs, finished = costs_of(transformer_base=[1, 2, 3])
    assert [(cost.updates, cost.seconds) for cost in costs] == [(260, 2)] * 3
    assert costs[0].disk_bytes == 70_624 * 4 * (1 + 3 * 6), "four checkpoints to average, two more"
    table, row, total, speed = cost_lines(costs, finished, on_gpu=False)[1:]
    assert table.split() == ["data", "set", "trainings", "updates", "core-hours", "disk"]
    assert row.split() == ["tiny", "3", "780", "0.43", "0.0", "GB"]
    assert total.split()[1:] == row.split()[1:]
    assert speed == "Speed: that of speeds.yaml."


def test_finished_runs_of_the_same_scale_and_device_say_how_long_an_update_takes(costs_of):
    for seed, seconds in ((1, 100), (2, 300), (3, 150)):
        write_manifest("transformer_base", seed, seconds)
    write_manifest("transformer_base", 5, 9000, gpus=1)
    write_manifest("transformer_base", 6, 9000, updates=0)
    write_manifest("transformer_base", 7, None)
    write_manifest("transformer_base", 4, 9000, scale="quick")
    write_manifest("transformer_relative", 1, 50)
    costs, finished = costs_of(transformer_base=[8], transformer_relative=[2], diagonalparse_l0=[1])
    medians = [1.5, 0.5, 1.25]  # of the own runs or, of the last, of all four with its base
    assert [cost.seconds for cost in costs] == [2 * seconds for seconds in medians], "there are two threads"
    lines = cost_lines(costs, finished, on_gpu=False)
    assert "Speed: that of 5 finished runs of this folder, else that of speeds.yaml." in lines
    assert costs_of(on_gpu=True, transformer_relative=[1])[0][0].seconds == 90


def test_names_of_systems_count_before_those_of_bases(costs_of):
    costs, _ = costs_of(nmt=[1], transformer_base=[1])
    assert [cost.seconds for cost in costs] == [3, 2]
    speeds = read_speeds([CONFIG])
    place = ("recipes", "tran2018", "gpu")
    seconds = [speeds.seconds(*place, system=system, base="recurrent") for system in ("nmt", "sa_nmt_1set")]
    assert seconds == [0.078, 0.103]
    assert speeds.seconds("scales", "mine", "gpu", system="nmt", base="recurrent") is None


def test_what_is_unknown_is_named(make_project):
    own = little(recipe="aycock2021")
    project = make_project(tiny=own)
    runs = [project.run("tiny", system, "paper", 1) for system in ("nmt", "transformer_base")]
    runs.append(project.run("multi30k_cs2en", "nmt", "paper", 1))
    lines = cost_lines(*planned_costs(project, runs, on_gpu=True), on_gpu=True)
    assert lines[2].split()[:7] == ["tiny", "2", "<=", "0", "<=", "0", "+"]
    assert lines[-1].startswith("?: the costs of nmt, transformer_base are unknown: their corpus is not there yet")


def test_the_most_updates_of_a_run():
    run = PROJECT.run("wmt17_tr2en", "transformer_base", "paper", 1)
    assert run.training.max_updates is None
    assert run_updates(run, None) is None
    assert run_updates(run, 1000) == 100 * 8, "100 epochs of 30,000 subwords in batches of 4,096"
    by_sentences = replace(run.training.batch, unit="sentences", size=32)
    limited = replace(run, training=replace(run.training, batch=by_sentences, max_updates=3000))
    assert [run_updates(limited, pairs) for pairs in (320, 10**6, None)] == [1000, 3000, 3000]


def test_the_page_of_costs_is_up_to_date(root, tmp_path):
    project = Project.load(root / "config", paths={"results": str(tmp_path)})
    page = (root / "docs/cost.md").read_text(encoding="utf-8")
    everything = {}
    for paper in ("aycock2021", "bugliarello2020", "pham2018", "tran2018"):
        runs = {}
        for table in tables_of(project, paper):
            for path in table_inputs(project, table=table):
                parsed = project.layout.parse(path)
                if parsed and "seed" in parsed.names:
                    names = (parsed["dataset"], parsed["system"], parsed["scale"], int(parsed["seed"]))
                    add_with_start(project, runs, names)
        assert row_of(project, paper, runs) in page
        everything |= runs
    assert row_of(project, "all", everything) in page.replace("**", "")


def add_with_start(project, runs, names):
    run = project.run(*names)
    if run.start:
        add_with_start(project, runs, (*run.start, *names[2:]))
    if run.external is None:
        runs[names] = run


def row_of(project, name, runs):
    total = cost_lines(*planned_costs(project, runs.values(), on_gpu=True), on_gpu=True)
    (line,) = (line for line in total if line.startswith("total "))
    count, *updates_and_hours, disk, _ = line.split()[1:]
    half = len(updates_and_hours) // 2
    updates, hours = " ".join(updates_and_hours[:half]), " ".join(updates_and_hours[half:])
    return f"| {name} | {count} | {updates} | {hours} | {float(disk.replace(',', '')):,.0f} GB |"


def run_of(system):
    for dataset in ("demo_en2de", "demo_de2en"):
        with contextlib.suppress(MissingAnnotation):
            return PROJECT.run(dataset, system, "smoke", 1)
    raise AssertionError(f"{system} runs on no demo corpus")


def model_of(run, sizes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return build_model(run, source_size=sizes["source"], target_size=sizes["target"], labels=LABELS)


def real_count(run, sizes):
    """Count the parameters of a model, without those of components that add few."""
    model = model_of(run, sizes)
    small = [own for own in model.components if not own.settings.parameter_count(run.model)]
    return sum(p.numel() for p in model.parameters()) - sum(p.numel() for own in small for p in own.parameters())


@pytest.mark.parametrize("joint", [True, False])
def test_parameters_are_those_of_the_models(joint):
    sizes = dict.fromkeys(SIZES, 47) if joint else SIZES
    for system in SYSTEMS:
        run = run_of(system)
        run = replace(run, segmentation=replace(run.segmentation, joint=joint, also=None))
        assert run.parameter_count(sizes) == real_count(run, sizes), system


OTHER_SIZES = {
    "transformer_base": {"norm": "post", "encoder_layers": 2},
    "nmt": {"layers": 3},
    "sa_nmt_1set": {"layers": 3},
    "sa_nmt_shared": {"layers": 1},
}


@pytest.mark.parametrize("system", OTHER_SIZES)
def test_parameters_of_other_sizes(system):
    run = run_of(system)
    run = replace(run, model=replace(run.model, width=48, **OTHER_SIZES[system]))
    assert run.parameter_count(SIZES | {"source": 47}) == real_count(run, SIZES | {"source": 47})


@pytest.mark.parametrize(("keep", "average"), [("best", 5), ("average", 3)])
def test_the_kept_checkpoints_fill_the_counted_bytes(tmp_path, keep, average):
    assert NEWEST == KEPT
    run = run_of("transformer_base")
    run = replace(run, training=replace(run.training, keep=keep, average=average))
    model = model_of(run, dict.fromkeys(SIZES, 47))
    optimiser = Adam(dict(model.named_parameters()), run.training)
    sum(weights.sum() for weights in model.parameters()).backward()
    optimiser.step(rate=1.0)
    checkpoints, window, most = Checkpoints(tmp_path), [], 0
    for update in range(1, 9):
        window = [*window, update][-average:] if keep == "average" else []
        best = {"best_update": 2} if update > 1 else {}
        checkpoints.save(TrainingState(update=update, window=window, **best), model, optimiser)
        most = max(most, sum(path.stat().st_size for path in tmp_path.glob("*.safetensors")))
    parameters = sum(weights.numel() for weights in model.parameters())
    counted = run_bytes(run, parameters) - parameters * 4
    assert counted <= most <= 1.2 * counted, "the rest are the headers of the files"
