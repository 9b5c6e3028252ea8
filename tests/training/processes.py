"""Training in processes of its own, to be killed or multiplied."""

import json
import multiprocessing
import time

from safetensors.torch import load_file
from training import tiny

SETTINGS = {"max_updates": 40, "validation": {"every": 7}, "checkpoint_every": 5, "keep": "average", "average": 3}


# Importing torch takes seconds: once, in the process that the others are forked from.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["training.tiny", "nmtcore.training.train", "torch.utils.tensorboard"])


def start(folder, *, env=None, settings=None, **options):
    """Start a training process."""
    folder.mkdir(exist_ok=True)
    options["settings"] = SETTINGS | (settings or {})
    process = PROCESSES.Process(target=tiny.train_in_process, args=(folder, options, env or {}))
    process.start()
    return process


def end_of(process, folder):
    """Wait for a process; give what it wrote and its exit code."""
    process.join(60)
    return (folder / f"output.{process.pid}").read_text(), process.exitcode


def finish(folder, *processes):
    """Wait for processes that must end well."""
    for process in processes:
        output, code = end_of(process, folder)
        assert code == 0, output


def final(folder):
    return load_file(folder / "final.safetensors")


def updates_in(folder):
    """Every update that the log's lines sum up."""
    lines = [json.loads(line) for line in (folder / "training.jsonl").read_text().splitlines()]
    training = [line for line in lines if "validation" not in line]
    updates = [u for line in training for u in range(line["update"] - line["updates"] + 1, line["update"] + 1)]
    return updates, [line["update"] for line in lines if "validation" in line]


def wait_for_update(process, folder, update):
    """Wait until the process has a checkpoint of at least so many updates."""
    while process.is_alive():
        found = [int(path.stem) for path in (folder / "checkpoints").glob("0*.json")]
        if found and max(found) >= update:
            return
        time.sleep(0.005)
