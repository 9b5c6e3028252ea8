"""Errors about the trees of a batch name the sentence: scores that are not finite, and a memory that is too small."""

import math
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from factories import build_tiny_model, examples_of, run_settings, side

from nmtcore.config.components.settings import HeadSelectionSettings, TreeHeadSettings
from nmtcore.config.recurrent import RecurrentSettings
from nmtcore.errors import UserError
from nmtcore.model.batch import make_batch
from nmtcore.model.tree_errors import DivergedTrees, explain_tree_errors

SYSTEMS = [HeadSelectionSettings(), HeadSelectionSettings(annotations="one_set"), TreeHeadSettings()]


@pytest.mark.parametrize("value", [math.inf, math.nan])
@pytest.mark.parametrize("component", SYSTEMS)
def test_scores_that_are_not_finite_name_the_sentence(make, draw, component, value):
    model = make(component)
    examples = draw(3, 1)
    examples.source.ids.values[:] = np.where(examples.source.ids.values == 7, 8, examples.source.ids.values)
    examples.source.ids.values[examples.source.ids.offsets[1]] = 7
    examples.id[:] = [10, 20, 30]
    with torch.no_grad():
        model.source_embedding.weight[7] = value
    if isinstance(component, HeadSelectionSettings):
        model.encode(make_batch(examples, np.array([0, 2]), tuple(model.components)))
    with pytest.raises(DivergedTrees) as error:
        model.encode(make_batch(examples, np.array([0, 2, 1]), tuple(model.components)))
    assert str(error.value) == (
        "The model cannot be used, since the scores of the trees of the source sentence with the id 20 are not finite: "
        "train it again."
    )


FULL = "[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes."
ADVICE = (
    "Leave it out (training.batch.max_length), cut it into parts, or make batches smaller "
    "(training.batch.device_size, decoding.batch_sentences)."
)


@pytest.mark.parametrize("error", [RuntimeError(FULL), torch.OutOfMemoryError("CUDA out of memory.")])
def test_a_memory_that_is_too_small_names_the_longest_sentence(error):
    nodes_BS = torch.arange(6) < torch.tensor([3, 5, 2]).unsqueeze(1)
    for ids_B, sentence in (
        (torch.tensor([10, 20, 30]), "the source sentence with the id 20"),
        (None, "the trees of sentence 1 of a batch"),
    ):
        with pytest.raises(UserError) as caught, explain_tree_errors(nodes_BS, ids_B):
            raise error
        assert f"{sentence}, which has 5 subwords and is in a batch of 3." in str(caught.value)
    with pytest.raises(UserError) as caught, explain_tree_errors(nodes_BS[:1], torch.tensor([10])):
        raise error
    assert str(caught.value) == (
        f"The memory is too small for the trees of the source sentence with the id 10, which has 3 subwords. {ADVICE}"
    )


def test_other_errors_stay():
    with pytest.raises(RuntimeError, match="a fault of ours"), explain_tree_errors(torch.ones(1, 1), None):
        raise RuntimeError("a fault of ours")


def encode_with_little_memory(subwords: int) -> None:
    """Encode a sentence with 300 MiB of memory more than the process has, and print the error."""
    run = run_settings(HeadSelectionSettings(), base="recurrent", model=RecurrentSettings(width=16))
    model = build_tiny_model(run, vocabulary=17)
    batch = make_batch(examples_of(side([[5] * subwords, [5, 6]])), np.array([1, 0]), tuple(model.components))
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 300 * 2**20,) * 2)
    try:
        model.encode(batch)
    except UserError as error:
        print(error)


def test_a_sentence_that_is_too_long_for_the_memory_is_one_sentence():
    program = "from model.test_tree_errors import *; encode_with_little_memory(2500)"
    folder = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=folder)
    assert done.stdout == (
        "The memory is too small for the trees of the source sentence with the id 0, which has 2500 subwords and is in "
        f"a batch of 2. {ADVICE}\n"
    ), done.stderr
