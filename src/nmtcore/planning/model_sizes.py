"""The sizes of models, counted from the configuration: vocabularies, parameters, operations per subword."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from nmtcore.config.corpora import SIDES
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.files import read_lines
from nmtcore.layout import file_name
from nmtcore.planning.features import segmentation_folder

BYTES_PER_NUMBER = 4
"""Weights and Adam's moments are stored in fp32."""
MOMENTS = 2
"""Numbers that Adam keeps for each weight."""
NEWEST = 2
"""How many of the newest checkpoints are kept (`nmtcore.training.checkpoints.KEPT`)."""


class Operations(NamedTuple):
    """Multiplications per position of a forward pass."""

    source: int
    """For each source position."""
    target: int
    """For each target position, the output layer included."""


def operations_of(run: RunSettings, *, sizes: Mapping[str, int]) -> Operations:
    """Count the multiplications of a forward pass: those with weights, without attention weights and components."""
    source, target = run.model.weights
    return Operations(source, target + sizes["target"] * run.model.width)


def vocabulary_sizes(project: Project, run: RunSettings) -> dict[str, int]:
    """Return the sizes of a run's vocabularies by side, without tags that its transforms add.

    They are those of the results folder or, before the segmentation is learned, its configured size: exact for words,
    for merges without the characters.
    """
    folder = segmentation_folder(project, dataset=run.dataset, segmentation=run.segmentation.name)
    return {side: _vocabulary_size(Path(folder) / file_name("vocabulary", side=side), run) for side in SIDES}


def _vocabulary_size(path: Path, run: RunSettings) -> int:
    return _line_count(path) if path.exists() else run.segmentation.size


@cache
def _line_count(path: Path) -> int:
    return len(read_lines(path))


def kept_checkpoints(run: RunSettings) -> int:
    """Return the largest number of checkpoints that a run keeps at a time, the best one included."""
    averaged = run.training.average if run.training.keep == "average" else 1
    return averaged + NEWEST


def run_bytes(run: RunSettings, parameters: int) -> int:
    """Return the size of a trained run: its model, and its checkpoints with the optimiser's moments."""
    return parameters * BYTES_PER_NUMBER * (1 + (1 + MOMENTS) * kept_checkpoints(run))
