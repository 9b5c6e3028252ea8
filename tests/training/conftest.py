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
def together():
    """Start a run on two processes, as torchrun does."""

    def started(folder, **options):
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        where = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        return [start(folder, env={**where, "RANK": rank, "LOCAL_RANK": rank}, **options) for rank in "01"]

    return started
