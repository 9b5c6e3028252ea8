"""Search without its faster paths finds the same translations; each path of docs/benchmarks.md exists and is tested."""

import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest
from inference.tiny import random_examples, random_model

from nmtcore.config.project_settings import ProjectSettings
from nmtcore.config.training import DecodingSettings, TrainingSettings
from nmtcore.inference import topk
from nmtcore.inference.translate import translate_examples
from nmtcore.model import attention, narrow_step, plain_step


@pytest.mark.parametrize("beam", [1, 4])
def test_translations_are_those_of_the_slower_ways(beam, monkeypatch):
    model, examples, settings = random_model(seed=3), random_examples(12, seed=2), DecodingSettings(beam=beam)
    fast = translate_examples(model, examples, settings, n_best=beam)
    for module, name in (
        (topk, "BEST_BY_NUMPY"),
        (attention, "MASK_IN_PRODUCT"),
        (attention, "SMALL_HEAD"),
        (attention, "FEW_QUERIES"),
        (plain_step, "PLAIN_STEPS"),
        (narrow_step, "WIDEST_NARROW_HEAD"),
    ):
        monkeypatch.setattr(module, name, 0)
    slow = translate_examples(model, examples, settings, n_best=beam)
    for hypotheses, expected in zip(fast, slow, strict=True):
        assert [h.tokens for h in hypotheses] == [h.tokens for h in expected]
        assert [h.log_probability for h in hypotheses] == pytest.approx([h.log_probability for h in expected])


def test_the_table_of_faster_paths_names_tests_and_switches_that_exist(root: Path):
    text = (root / "docs/benchmarks.md").read_text(encoding="utf-8")
    rows = [row.split("|")[1:4] for row in re.findall(r"\n(\|.*`\w+/test_\w+\.py`.*)", text)]
    assert len(rows) > 10
    for _, tested, switch in rows:
        assert all((root / "tests" / path).is_file() for path in re.findall(r"`(\w+/test_\w+\.py)`", tested))
        for module, name in re.findall(r"`(nmtcore[\w.]*)\.([A-Z_]+) = ", switch):
            assert hasattr(import_module(module), name)
        for setting in re.findall(r"`training\.([\w.]+): ", switch):
            attrgetter(setting)(TrainingSettings(max_updates=1))
        for setting in re.findall(r"`(\w+): ", switch):
            assert hasattr(ProjectSettings, setting)
