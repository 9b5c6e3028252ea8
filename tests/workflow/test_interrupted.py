"""A killed training job is resumed; with edited settings, training starts from the beginning."""

import hashlib
import json
import os
import signal
import subprocess

import pytest
import yaml
from workflow.calling import FORKING, UPDATES, VARIABLES, wait_for_trainer, write_scale

from nmtcore.layout import Layout
from nmtcore.reporting.manifest import run_row
from nmtcore.training.checkpoints import Checkpoints

pytestmark = pytest.mark.needs("Snakemake")

MODEL = "results/long/little/transformer_base/seed1/model"


def updates(run):
    lines = [json.loads(line) for line in (run / "training.jsonl").read_text().splitlines()]
    lines = [line for line in lines if "validation" not in line]
    return [u for line in lines for u in range(line["update"] - line["updates"] + 1, line["update"] + 1)]


def sums(folder):
    return {path: hashlib.sha256(path.read_bytes()).digest() for path in folder.rglob("*") if path.is_file()}


def test_a_killed_training_is_resumed_and_an_edited_one_starts_again(workplace):
    run = (workplace.folder / MODEL).parent
    names = {"scale": "long", "dataset": "little", "system": "transformer_base", "seed": 1}
    layout = Layout(results=str(workplace.folder / "results"))
    process = workplace.start("--cores", "1", MODEL, program=FORKING)
    os.kill(wait_for_trainer(process, run, 20), signal.SIGKILL)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1, output
    assert not (run / "model").exists()
    record = run_row(layout, names)
    assert (record["state"], record["gpus"]) == ("interrupted", 0)
    (folder,) = run.glob("checkpoints/*")
    reached = max(Checkpoints(folder).paths())
    assert 20 <= reached < UPDATES

    workplace.run(MODEL)
    assert updates(run) == list(range(1, UPDATES + 1))
    record = run_row(layout, names)
    assert (record["state"], record["attempts"]) == ("unscored", 2)
    log = workplace.folder / "results/long/logs/little/transformer_base/seed1.training.log"
    assert f"Resuming from the checkpoint of update {reached}." in log.read_text()

    before = sums(folder)
    training = yaml.safe_load((workplace.folder / "config/scales/long.yaml").read_text())["training"]
    workplace.edit("scales/long", training={**training, "label_smoothing": 0.2, "max_updates": 20})
    workplace.run(MODEL)
    assert "training.label_smoothing: nothing -> 0.2" in log.read_text()
    assert "starting afresh in" in log.read_text()
    assert updates(run) == list(range(1, 21))
    assert sums(folder) == before
    assert len(list(run.glob("checkpoints/*"))) == 2
    assert workplace.partial_files() == []


def test_a_closed_terminal_ends_training_with_a_checkpoint_and_leaves_no_lock(workplace):
    write_scale(workplace)
    model = MODEL.replace("seed1", "seed2")
    terminal, inner = os.openpty()

    def take_terminal() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # not as under `nohup`
        os.login_tty(inner)

    process = subprocess.Popen(
        workplace.command("--cores", "1", model, program=FORKING),
        env=os.environ | VARIABLES | {"TERM": "dumb"},
        preexec_fn=take_terminal,
    )
    os.close(inner)
    wait_for_trainer(process, (workplace.folder / model).parent, 20)
    os.close(terminal)
    assert process.wait(60) in (1, 120), "120: what is left to print has no terminal any more"
    log = (workplace.folder / "results/long/logs/little/transformer_base/seed2.training.log").read_text()
    stopped = int(log.partition("Training was stopped by SIGHUP after update ")[2].partition(";")[0])
    (folder,) = workplace.folder.glob("results/long/little/transformer_base/seed2/checkpoints/*")
    assert stopped in Checkpoints(folder).paths()
    assert not (workplace.folder / ".snakemake/locks").exists()
