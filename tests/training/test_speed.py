"""The operations of an update, counted by torch; the peak that they are compared with; what the log says of both."""

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from training import tiny
from training.test_train import train_tiny

from nmtcore.model.batch import make_batch
from nmtcore.training.speed import measured_peak, update_operations


def test_operations_are_those_of_products_with_weights_without_padding():
    run, examples = tiny.settings(dropout=0.0), tiny.examples(7)
    model = tiny.model_of(run)
    rows = [np.array([row]) for row in range(7)]  # without padding
    with FlopCounterMode(display=False) as counter:
        for row in rows:
            model.loss(make_batch(examples, row)).objective().backward()
    counted = counter.get_flop_counts()["Global"]
    expected = sum(counted[product] for product in (torch.ops.aten.mm, torch.ops.aten.addmm))
    assert update_operations(model, [make_batch(examples, np.arange(7))]) == expected


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_peak_is_that_of_a_product(precision):
    with FlopCounterMode(display=False) as counter:
        peak = measured_peak(torch.device("cpu"), precision, width=64)
    assert counter.get_total_flops() == 11 * 2 * 64**3, "a first one, and ten that are timed"
    assert 0 < peak < 1e15


def test_the_log_has_the_peak_memory_and_on_a_gpu_the_share_of_its_peak(tmp_path):
    lines = train_tiny(tmp_path, tiny.settings())[2]
    training = [line for line in lines if "validation" not in line]
    memory = [line["peak_memory_bytes"] for line in training]
    assert memory == sorted(memory)
    assert 1e8 < memory[0] < 1e11
    assert not any("share_of_peak" in line for line in training)
