"""Training in processes of their own, which tests kill, interrupt or run in pairs."""

import json
import multiprocessing
import socket
import time

from safetensors.torch import load_file
from training import tiny

from nmtcore.training.checkpoints import Checkpoints

SETTINGS = {"max_updates": 40, "validation": {"every": 7}, "checkpoint_every": 5, "keep": "average", "average": 3}


# Importing torch takes seconds, so only the process from which the others are forked does it.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["training.tiny", "nmtcore.training.trainer"])


def start(folder, *, env=None, settings=None, **options):
    """Start a training process; `options` are those of `tiny.train_in_process`."""
    folder.mkdir(exist_ok=True)
    options["settings"] = SETTINGS | (settings or {})
    process = PROCESSES.Process(target=tiny.train_in_process, args=(folder, options, env or {}))
    process.start()
    return process


def start_pair(folder, **options):
    """Start a run in two processes, as torchrun does."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    return [start(folder, env={**env, "RANK": rank, "LOCAL_RANK": rank}, **options) for rank in "01"]


def end_of(process, folder, *, seconds=60):
    """Wait for a process; return its output and its exit code."""
    process.join(seconds)
    return (folder / f"output.{process.pid}").read_text(), process.exitcode


def finish(folder, *processes):
    """Wait for processes, all of which must succeed."""
    for process in processes:
        output, code = end_of(process, folder)
        assert code == 0, output


def final_weights(folder):
    return load_file(folder / "final.safetensors")


def logged_updates(folder):
    """List the updates that the training lines of the log cover, and the updates of the validation lines."""
    lines = [json.loads(line) for line in (folder / "training.jsonl").read_text().splitlines()]
    training = [line for line in lines if "validation" not in line]
    updates = [u for line in training for u in range(line["update"] - line["updates"] + 1, line["update"] + 1)]
    return updates, [line["update"] for line in lines if "validation" in line]


def wait_for_update(process, folder, update):
    """Wait until the process has written a checkpoint of `update` or a later update."""
    while process.is_alive():
        if max(Checkpoints(folder / "checkpoints").paths(), default=-1) >= update:
            return
        time.sleep(0.005)
