"""How jobs share the GPUs of a machine."""

import pytest

from nmtcore.planning.training import shared_gpus


@pytest.mark.parametrize(
    ("settings", "scales", "visible", "expected"),
    [
        ({}, ["small"], 4, (8, 32)),
        ({}, ["small", "paper"], 4, (1, 4)),
        ({"machine": {"jobs_per_gpu": 3}}, ["small"], 4, (3, 12)),
        ({"gpus": 2}, ["paper"], 1, (1, 2)),
        ({}, [], 3, (1, 3)),
    ],
)
def test_jobs_share_gpus_as_the_machine_or_the_scales_allow(make_project, settings, scales, visible, expected):
    project = make_project(settings)
    assert shared_gpus(project, map(project.layout.root, scales), visible=visible) == expected
