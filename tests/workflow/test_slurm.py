"""The whole workflow on a real Slurm cluster, with a training job that Slurm interrupts."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from conftest import skip_unless_ci
from workflow.calling import make_workplace, write_scale

pytestmark = pytest.mark.needs("Slurm")

RUN = "results/long/czeng_sample_cs2en/depparse_l4/seed1"
TARGET = "results/long/czeng_sample_cs2en/depparse_l4.bleu"
UPDATES = 160
CLUSTER = [
    *("--default-resources", "slurm_partition=main", "slurm_account=none", "--slurm-status-command", "squeue"),
    *("--slurm-init-seconds-before-status-checks", "2", "--seconds-between-status-checks", "2"),
]
CONFIGURATION = Path("/etc/slurm/slurm.conf")
MUNGE = Path("/run/munge")


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def daemon(file):
    """Return the process id in `file` if the daemon still runs; another process may have the same id by now."""
    try:
        number = int(file.read_text())
        return number if Path(f"/proc/{number}/comm").read_text().strip() == file.stem else None
    except (OSError, ValueError):
        return None


def sweep(state):
    """Clean up after a killed cluster: its daemons, jobs and sockets."""
    for file in (state / "slurmd.pid", state / "slurmctld.pid"):
        if number := daemon(file):
            os.kill(number, signal.SIGTERM)
            while daemon(file) == number:
                time.sleep(0.1)
    shutil.rmtree(state, ignore_errors=True)
    if daemon(MUNGE / "munged.pid") is None:
        for name in ("munge.socket.2", "munged.pid"):
            (MUNGE / name).unlink(missing_ok=True)


@pytest.fixture(scope="module")
def cluster(shared):
    """A cluster with one node, started by this module."""
    absent = [name for name in ("sbatch", "slurmctld", "slurmd", "munged") if shutil.which(name) is None]
    if absent:
        skip_unless_ci(f"Slurm is not installed ({', '.join(absent)})")
    if os.geteuid() != 0:
        skip_unless_ci("starting a Slurm cluster takes root")
    if CONFIGURATION.exists() and "ClusterName=test\n" not in CONFIGURATION.read_text():
        skip_unless_ci("this machine belongs to a Slurm cluster, which a test must not touch")
    state = Path(tempfile.gettempdir(), "slurm-test")
    sweep(state)
    started = subprocess.run([shared / "slurm/up.sh", state], capture_output=True, text=True)
    try:
        if started.returncode:
            skip_unless_ci(f"the cluster did not start: {started.stderr}")
        yield
    finally:
        subprocess.run([shared / "slurm/down.sh", state], check=True)


def training_jobs():
    """Return the ids of running training jobs."""
    lines = output_of("squeue", "--noheader", "--states=RUNNING", "--format=%A %k").splitlines()
    return [line.split()[0] for line in lines if "rule_train_model" in line]


def watch(process, folder):
    """Wait for a checkpoint, then interrupt training as Slurm does; return what was observed."""
    while process.poll() is None:
        saved = sorted(folder.glob(f"{RUN}/checkpoints/*/0*.safetensors"))
        jobs = training_jobs() if saved else []
        if jobs:
            (lock,) = folder.glob(f"{RUN}/checkpoints/*/lock")
            seen = {"job": output_of("scontrol", "show", "job", jobs[0])}
            trainer = int(lock.read_text().split()[1])
            subprocess.run(["scancel", "--signal=USR1", jobs[0]], check=True)
            began = time.monotonic()
            while os.path.exists(f"/proc/{trainer}") and time.monotonic() - began < 60:
                time.sleep(0.05)
            return seen | {"seconds": time.monotonic() - began, "stopped": jobs[0], "trainer": trainer}
        time.sleep(0.2)
    raise AssertionError(f"the workflow ended before training:\n{process.communicate()[0]}")


def test_jobs_run_in_slurm_and_an_interrupted_training_resumes_in_its_retry(cluster, root, shared, tmp_path):
    workplace = make_workplace(tmp_path, root / "Snakefile", shared / "data")
    write_scale(workplace, UPDATES)
    workplace.run(TARGET, "--omit-from", "train_model")
    profile = ["--workflow-profile", str(root / "profiles/slurm")]
    process = workplace.start(*profile, TARGET, "results/demo_en2de/corpus/raw/dev.parquet", *CLUSTER)
    seen = watch(process, workplace.folder)
    output, _ = process.communicate(timeout=1800)
    assert process.returncode == 0, output
    submitted = re.findall(r"rule_(\w+?)/", "\n".join(re.findall(r"has been submitted with SLURM jobid .*", output)))
    expected = [*["download"] * 2, "read_split", *["train_model"] * 2, *["translate_split"] * 2]
    assert sorted(submitted) == expected, "scoring is local"
    scores = json.loads((workplace.folder / TARGET).read_text())
    assert scores["splits"]["test"]["sentences"]["values"] == [20]
    assert workplace.partial_files() == []
    assert "gres" not in seen["job"], "training requests no GPU, despite the user's defaults"
    assert "--signal=USR1@300" in output
    assert seen["seconds"] < 20
    assert re.search(rf"'{seen['stopped']}' failed", output)
    lines = [json.loads(line) for line in (workplace.folder / RUN / "training.jsonl").read_text().splitlines()]
    lines = [line for line in lines if "validation" not in line]
    updates = [u for line in lines for u in range(line["update"] - line["updates"] + 1, line["update"] + 1)]
    assert updates == list(range(1, UPDATES + 1))
    logs = "".join(path.read_text() for path in (workplace.folder / "results/long/logs").rglob("*.training.log"))
    assert "Resuming from the checkpoint of update" in logs
    assert len(list((workplace.folder / RUN).glob("checkpoints/*"))) == 1
