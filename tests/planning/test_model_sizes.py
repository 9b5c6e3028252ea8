"""Parameters, checkpoints and operations that are counted from the configuration, against real models."""

import contextlib
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.config.needs import MissingAnnotation
from nmtcore.config.project import Project
from nmtcore.model.build import build_model
from nmtcore.planning.model_sizes import (
    BYTES_PER_NUMBER,
    MOMENTS,
    NEWEST,
    kept_checkpoints,
    operations_of,
    run_bytes,
    vocabulary_sizes,
)
from nmtcore.training.checkpoints import KEPT, Checkpoints
from nmtcore.training.state import TrainingState
from nmtcore.training.update import Adam

CONFIG = Path(__file__).parents[2] / "config"
PROJECT = Project.load(CONFIG)
SIZES = {"source": 61, "target": 47}
COLUMNS = ("deprel", "upos", "xpos", "ccg", "random", "dg_a", "dg_b")
LABELS = {
    side: {
        column: (*LABEL_SPECIALS, *(f"{column}{i}" for i in range(5 * n + first))) for n, column in enumerate(COLUMNS)
    }
    for first, side in ((1, "source"), (2, "target"))
}
SYSTEMS = [name for name in PROJECT.system_entries if name not in PROJECT.systems.external]


def run_of(system):
    for dataset in ("demo_en2de", "demo_de2en"):
        with contextlib.suppress(MissingAnnotation):
            return PROJECT.run(dataset, system, "smoke", 1)
    raise AssertionError(f"{system} runs on no demo corpus")


def model_of(run, sizes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return build_model(run, source_size=sizes["source"], target_size=sizes["target"], labels=LABELS)


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("system", SYSTEMS)
def test_parameters_are_those_of_the_model(system, joint):
    run = run_of(system)
    run = replace(run, segmentation=replace(run.segmentation, joint=joint, also=None))
    sizes = dict.fromkeys(SIZES, 47) if joint else SIZES
    assert run.parameter_count(sizes) == real_count(run, sizes)


def real_count(run, sizes):
    """Count the parameters of a model, without those of components that add few."""
    model = model_of(run, sizes)
    small = [own for own in model.components if not own.settings.parameter_count(run.model)]
    return sum(p.numel() for p in model.parameters()) - sum(p.numel() for own in small for p in own.parameters())


@pytest.mark.parametrize("system", ["transformer_base", "nmt", "sa_nmt_1set", "sa_nmt_shared"])
@pytest.mark.parametrize("changes", [{}, {"norm": "post", "encoder_layers": 2}, {"layers": 3}])
def test_parameters_of_other_sizes(system, changes):
    run = run_of(system)
    changes = {key: value for key, value in changes.items() if hasattr(run.model, key)}
    run = replace(run, model=replace(run.model, width=48, **changes))
    assert run.parameter_count(SIZES | {"source": 47}) == real_count(run, SIZES | {"source": 47})


@pytest.mark.parametrize("system", ["transformer_base", "nmt"])
def test_operations_are_the_entries_of_matrices(system):
    run = run_of(system)
    model = model_of(run, dict.fromkeys(SIZES, 47))
    matrices = {name: weights.numel() for name, weights in model.named_parameters() if weights.dim() > 1}
    counted = operations_of(run, sizes=dict.fromkeys(SIZES, 47))
    assert counted.source + counted.target == sum(matrices.values())
    encoder = sum(size for name, size in matrices.items() if name.startswith(("encoder.", "keys.", "from_context.")))
    assert counted.source == encoder


@pytest.mark.parametrize(("keep", "average"), [("last", 5), ("best", 5), ("average", 1), ("average", 3)])
def test_the_kept_checkpoints_fill_the_counted_bytes(tmp_path, keep, average):
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
        most = max(most, len(checkpoints.paths()))
    assert most == kept_checkpoints(run)
    parameters = sum(weights.numel() for weights in model.parameters())
    files = sum(path.stat().st_size for path in tmp_path.glob("*.safetensors"))
    counted = run_bytes(run, parameters) - parameters * BYTES_PER_NUMBER
    assert counted <= files <= 1.2 * counted, "the rest are the headers of the files"


def test_the_constants_are_those_of_training():
    assert NEWEST == KEPT
    assert MOMENTS == 2


def test_sizes_of_vocabularies_are_those_of_the_results(tmp_path):
    project = Project.load(CONFIG, paths={"results": str(tmp_path)})
    run = project.run("wmt17_tr2en", "tag_attention", "paper", 1)
    assert vocabulary_sizes(project, run) == dict.fromkeys(("source", "target"), run.segmentation.size)
    folder = Path(project.layout.path("segmentation", dataset="wmt17_tr2en", segmentation=run.segmentation.name))
    folder.mkdir(parents=True)
    (folder / "source.vocab").write_text("a\nb\n")
    assert vocabulary_sizes(project, run) == {"source": 2, "target": run.segmentation.size}
