"""Fixtures of the training tests: one thread per process, and runs in two processes."""

import socket

import pytest
import torch
from training.processes import start


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def start_pair():
    """A function that starts a run in two processes, as torchrun does."""

    def start_both(folder, **options):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        env = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        return [start(folder, env={**env, "RANK": rank, "LOCAL_RANK": rank}, **options) for rank in "01"]

    return start_both
