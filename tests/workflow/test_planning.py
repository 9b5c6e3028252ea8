"""Plans, what they cost, and files that must be fetched by hand."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from fake_nvml import make_library

TARGETS = {"all", "data", "annotate", "models", "train", "tables"}
BY_HAND = "results/cs2en/depparse_l4.bleu"


@pytest.mark.needs("Snakemake")
def test_files_to_download_by_hand_are_named_and_stop_a_run(empty):
    path = empty.folder / "manual/czeng17/data.export-format.9.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    planned = empty.plan(BY_HAND)
    assert re.search(r"^  czeng17/data\.export-format\.9\.gz: .*; licence: ", planned.output, re.M)
    messages = sentences(planned.output)
    assert len(messages) == 9, "there are ten files, and one is there"
    for number, sentence in enumerate(messages):
        name = f"czeng17/data.export-format.{number}.gz"
        assert sentence.startswith(f"{name} must be fetched by hand: CzEng 1.7 needs a free registration at https://")
        assert sentence.endswith(f"Put it at manual/{name}.")
    assert re.search(r"^train_model +1$", planned.output, re.MULTILINE)
    assert not (empty.folder / "results").exists()

    path.unlink()
    stopped = empty.call("--cores", "1", BY_HAND)
    assert stopped.code == 1
    assert set(messages) < set(sentences(stopped.output))
    (log,) = (path for path in (empty.folder / "results/logs").rglob("*.log"))
    assert log.read_text().strip() in sentences(stopped.output)
    assert "Traceback" not in stopped.output
    assert not (empty.folder / "results/cs2en").exists()
    assert not [path for path in (empty.folder / "downloads").rglob("*") if path.is_file()]


def sentences(output):
    """The messages about files to download by hand, each once."""
    return sorted(set(re.findall(r"^\S+ must be fetched by hand: .*$", output, re.MULTILINE)))


def test_every_rule_has_an_environment_and_a_script(rules):
    own = {rule.name: rule for rule in rules.workflow.rules}
    assert {name for name, rule in own.items() if rule.norun} == TARGETS
    for name in own.keys() - TARGETS:
        if name != "run_metric":  # an environment without Snakemake
            assert own[name].script
            assert (Path(own[name].basedir) / own[name].conda_env).is_file(), name
    assert Path(own["run_metric"].conda_env(SimpleNamespace(metric="comet"))).is_file()


@pytest.mark.needs("Snakemake")
@pytest.mark.parametrize(
    ("profile", "shown", "of_training"),
    [([], [("4", "32")], "16"), (["--workflow-profile", "profiles/slurm"], [], "2")],
)
def test_a_workstation_with_four_gpus(empty, root, tmp_path, monkeypatch, profile, shown, of_training):
    monkeypatch.setenv("LD_LIBRARY_PATH", str(make_library(tmp_path, 4)))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    options = [str(root / option) if option.startswith("profiles") else option for option in profile]
    settings = ["device=auto", "scale=small", "gpus=2"]
    output = empty.call("-n", "train", *options, settings=settings, forked=False).output
    assert re.findall(r"^GPUs: (\d+), with at most .* \(gpu=(\d+)\)\.$", output, re.M) == shown
    assert set(re.findall(r"gpu=(\d+), slurm_extra", output)) == {of_training}
