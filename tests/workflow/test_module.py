"""The workflow as a module of another one, and as the Snakemake workflow catalogue expects it."""

import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from forked import call_forked
from workflow.calling import CODE, Workplace, copy_clone, make_workplace, write_little

pytestmark = pytest.mark.needs("Snakemake")

HERS = """
configfile: "config/config.yaml"

rule all:
    input: "length.txt",

module nmt:
    snakefile: "SNAKEFILE"
    config: config["nmt"]

use rule * from nmt as nmt_*

rule data:
    output: "data.txt",
    shell: "touch {output}"

rule count:
    input: "results/little/corpus/test.parquet",
    output: "length.txt",
    shell: "wc -c < {input} > {output}"

onsuccess: shell("echo hers > succeeded.txt")

onerror: shell("echo hers > failed.txt")
"""
"""The Snakefile of a user; she runs our workflow as a module, and a rule of her own on one of its outputs."""


@pytest.fixture
def hers(root, tmp_path) -> Workplace:
    """Her working directory, with a data set of her own."""
    workplace = make_workplace(tmp_path, tmp_path / "work/Snakefile", code=CODE)
    write_little(workplace)
    nmt = {"scale": "smoke", "datasets": ["little"], "systems": ["transformer_base"], "device": "cpu"}
    workplace.write("config", {"samples": ["a"], "nmt": nmt | {"mirrors": [str(workplace.mirror)]}})
    workplace.snakefile.write_text(HERS.replace("SNAKEFILE", str(root / "workflow/Snakefile")))
    return workplace


def test_her_rule_runs_on_a_file_of_the_module_and_her_hooks_are_called(hers):
    moved = (hers.mirror / "test.en").rename(hers.mirror / "elsewhere")
    stopped = hers.call("--cores", "1")
    assert stopped.code == 1
    assert "test.en" in stopped.output
    assert "Traceback" not in stopped.output
    assert (hers.folder / "failed.txt").exists()

    moved.rename(hers.mirror / "test.en")
    made = hers.run()
    assert {"nmt_download", "nmt_read_split", "nmt_filter_split", "count", "all"} == made.rules
    assert int((hers.folder / "length.txt").read_text()) > 1000
    assert (hers.folder / "succeeded.txt").exists()
    rest = hers.plan("nmt_default", "all")
    assert {"nmt_train_model", "nmt_translate_split", "nmt_score_tests", "nmt_summarise_seeds"} <= rest.rules
    assert not {"count", "train_model"} & rest.rules
    assert "results/smoke/little/transformer_base.bleu" in rest.output


OTHER = """
module other:
    snakefile: "SNAKEFILE"
    config: {"scale": "demo", "datasets": ["little"], "systems": ["nmt"], "paths": {"results": "o", "downloads": "p"}}

use rule * from other as other_*
"""


def test_a_changed_rule_and_another_module_with_its_own_settings_are_planned(hers, root):
    """Snakemake reads the module's files again for each line `use rule`, and hooks are called once."""
    changed = "\nuse rule train_model from nmt as nmt_train_model with:\n    threads: 3\n"
    other = OTHER.replace("SNAKEFILE", str(root / "workflow/Snakefile"))
    with hers.snakefile.open("a") as file:
        file.write(f"{changed}\nprint('local:', *sorted(workflow._localrules))\n{other}")
    planned = hers.plan("nmt_default", "other_default", "--cores", "4")
    assert {"nmt_train_model", "other_train_model", "nmt_download", "other_download"} <= planned.rules
    assert "output: results/smoke/little/transformer_base/seed1/model" in planned.output
    assert "output: o/demo/little/nmt/seed1/model" in planned.output
    (job,) = re.findall(r"^rule nmt_train_model:\n(?: .*\n)*", planned.output.partition("Job stats")[2], re.M)
    assert "    threads: 3\n" in job
    local = set(re.search(r"^local: (.*)$", planned.output, re.M).group(1).split())
    assert {"nmt_score_tests", "nmt_table"} <= local
    assert all(name.startswith("nmt_") for name in local), "her rule `data` is not local because ours is"


def test_a_mistake_in_the_module_is_one_sentence(hers, root):
    lines = f'    snakefile: "{root}/workflow/Snakefile"\n    prefix: "nmt/"\n'
    hers.snakefile.write_text(f"module nmt:\n{lines}\nuse rule * from nmt as nmt_*\n")
    stopped = hers.call("-n")
    assert stopped.code == 1
    (message,) = (text for text in stopped.output.splitlines() if text.startswith("Error: "))
    assert message.startswith("Error: module nmt: a prefix would miss paths that no rule declares; instead, name")
    assert "Traceback" not in stopped.output


def test_the_example_in_the_documentation_plans(hers, root):
    page = (root / "docs/running.md").read_text(encoding="utf-8")
    snakefile, settings = re.search(r"```python\n(configfile.*?)```\n+```yaml\n(.*?)```", page, re.DOTALL).groups()
    hers.snakefile.write_text(snakefile.replace("/path/to/nmtcore", str(root)))
    (hers.folder / "config/config.yaml").write_text(settings)
    assert {"nmt_train_model", "nmt_translate_split", "count_words", "all"} <= hers.plan().rules


def test_the_catalogues_deployment_runs(hers, root, tmp_path, monkeypatch):
    """Snakedeploy copies the files of config/, and writes a module from GitHub."""
    repository = tmp_path / "repository"
    copy_clone(root, repository)
    author = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "--quiet"], ["add", "."], [*author, "commit", "--quiet", "-m", "All"], ["tag", "v1"]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    for variable, value in {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{repository}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/someone/nmtcore",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    shutil.copytree(root / "config", hers.folder / "config", dirs_exist_ok=True)
    hers.snakefile.write_text(
        'configfile: "config/config.yaml"\n\n'
        "module nmtcore:\n"
        '    snakefile: github("someone/nmtcore", path="workflow/Snakefile", tag="v1")\n'
        "    config: config\n\n"
        "use rule * from nmtcore\n\n"
        "import nmtcore\nprint('imported:', nmtcore.__file__)\n"
    )
    deployed, target = replace(hers, code=None), "results/little/corpus/test.parquet"
    made = deployed.run(target)
    assert re.search(rf"^imported: {tmp_path}/cache/.*/src/nmtcore/__init__.py$", made.output, re.M)
    assert made.rules == {"download", "read_split", "filter_split"}


def test_the_file_of_the_catalogue_has_a_default_target_and_a_report(root, tmp_path):
    catalogued = make_workplace(tmp_path, root / "workflow/Snakefile", code=CODE)
    write_little(catalogued)
    entry = {"provenance": "x", "date": "2026-11-20", "translations": {"little": {"test": str(tmp_path / "text")}}}
    catalogued.write("systems/mine", {"engine": {"description": "An engine", "external": entry}})
    (tmp_path / "text").write_text("die Katze\n" * 10)
    catalogued.write("config", {"scale": "smoke", "datasets": ["little"], "systems": ["engine"]})
    made = catalogued.run()
    assert {"score_tests", "summarise_seeds", "default"} <= made.rules
    assert re.search(r"^Using workflow specific profile \S*workflow/profiles/default ", made.output, re.M)
    assert list(catalogued.folder.rglob("manifest.json"))
    reported = catalogued.call("--report", "report.html")
    assert reported.code == 0, reported.output
    assert '"name": "engine.bleu"' in (catalogued.folder / "report.html").read_text()


def test_the_file_of_the_catalogue_passes_the_lint(root):
    linted = call_forked("snakemake", "--lint", "--snakefile", "workflow/Snakefile", folder=root)
    assert linted.returncode == 0, linted.stderr
