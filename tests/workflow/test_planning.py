"""Plans, and mistakes that end planning."""

import re
import subprocess
import sys

import pytest

RULE = re.compile(r"^rule (\w+):\n(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
TARGETS = {"all", "data", "annotate", "models", "train", "tables"}


def sentences(output):
    """The messages about files to download by hand, each once."""
    return sorted(set(re.findall(r"^\S+ must be fetched by hand: .*$", output, re.MULTILINE)))


def test_a_plan_names_the_files_to_download_by_hand(empty):
    planned = empty.plan("results/cs2en/depparse_l4.bleu")
    messages = sentences(planned.output)
    assert len(messages) == 10
    for number, sentence in enumerate(messages):
        name = f"czeng17/data.export-format.{number}.gz"
        assert sentence.startswith(f"{name} must be fetched by hand: CzEng 1.7 needs a free registration at https://")
        assert sentence.endswith(f"Put it at manual/{name}.")
    assert re.search(r"^train_model +1$", planned.output, re.MULTILINE)
    assert not (empty.folder / "results").exists()


def test_a_run_without_these_files_stops_with_the_same_messages(empty):
    stopped = empty.call("--cores", "1", "results/cs2en/depparse_l4.bleu")
    assert stopped.code == 1
    assert sentences(stopped.output) == sentences(empty.call("-n", "results/cs2en/depparse_l4.bleu").output)
    (log,) = (path for path in (empty.folder / "results/logs").rglob("*.log"))
    assert log.read_text().strip() in sentences(stopped.output)
    assert "Traceback" not in stopped.output
    assert not (empty.folder / "results/cs2en").exists()
    assert not [path for path in (empty.folder / "downloads").rglob("*") if path.is_file()]


def test_a_file_in_the_manual_folder_is_no_longer_reported(empty):
    path = empty.folder / "manual/czeng17/data.export-format.9.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    messages = sentences(empty.call("-n", "results/cs2en/depparse_l4.bleu").output)
    assert len(messages) == 9
    assert not any("format.9.gz" in sentence for sentence in messages)


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("results/demo_en2d/depparse_l4.bleu", "unknown data set or scale 'demo_en2d'. Did you mean demo_en2de"),
        ("results/demo_en2de/depparse_l9.bleu", "unknown system 'depparse_l9'. Did you mean depparse_l"),
        ("results/smokey/demo_en2de/depparse_l1.bleu", "unknown data set or scale 'smokey'. Did you mean smoke?"),
        ("results/smoke/demo_en2de/depparse_l1.blue", "unknown score 'blue'. Did you mean bleu?"),
        ("results/smoke/demo_en2de/transformer_base.uas", "transformer_base predicts no trees"),
        ("results/demo_en2de/corpus/tset.parquet", "unknown split 'tset'. Did you mean test?"),
        ("results/demo_en2de/corpus/raw/tset.parquet", "unknown split 'tset'. Did you mean test?"),
        ("results/demo_en2de/annotation/existing/tset.source.parquet", "unknown split 'tset'. Did you mean test?"),
        (
            "results/demo_en2de/annotation/exist/test.source.parquet",
            "unknown annotator 'exist'. Did you mean existing?",
        ),
        ("results/smoke/demo_en2de/corpus/test.parquet", "corpus does not depend on the scale"),
        ("results/paper/demo_en2de/depparse_l1.bleu", "without 'paper/'"),
    ],
)
def test_a_typing_error_in_a_target_gives_one_message(empty, target, sentence):
    refused = empty.call("-n", target)
    assert refused.code == 1
    (line,) = (line for line in refused.output.splitlines() if line.startswith("Error: "))
    assert line.startswith(f"Error: {target}: ")
    assert sentence in line
    assert "Traceback" not in refused.output
    assert 'File "' not in refused.output


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("config", {"scal": "smoke"}, "config.yaml: unknown key 'scal'. Did you mean scale?"),
        ("config", {"scale": "smokey"}, "config.yaml: unknown scale 'smokey'. Did you mean smoke?"),
        ("config", {"datasets": ["demo_en2d"]}, "datasets: unknown data set 'demo_en2d'. Did you mean demo_en2de"),
        (
            "config",
            {"systems": ["transformer_bas"]},
            "systems: unknown system 'transformer_bas'. Did you mean transformer_base",
        ),
        ("datasets/demo_en2de", {"extends": "demo_de2e"}, "unknown data set 'demo_de2e'. Did you mean demo_de2en"),
    ],
)
def test_a_typing_error_in_the_configuration_gives_one_message(empty, name, values, sentence):
    empty.write(name, values)
    refused = empty.call("-n", "results/demo_en2de/transformer_base.bleu")
    assert refused.code == 1
    (line,) = (line for line in refused.output.splitlines() if line.startswith("Error: "))
    assert sentence in line
    assert 'File "' not in refused.output


def test_tables_and_figures_of_differences_are_planned(empty):
    targets = [
        "results/figures/constructions.svg",
        "results/figures/mine/curves.svg",
        "results/tables/mine/examples.md",
        "results/tables/systems.csv",
        "results/tables/mine/data.html",
    ]
    settings = ["scale=smoke", 'datasets=["demo_en2de"]']
    planned = empty.plan(*targets, settings=[*settings, 'systems=["transformer_base", "pascal"]'])
    assert {"construction_table", "construction_figure", "curve_figure", "example_table"} <= planned.rules
    assert {"system_table", "data_table"} <= planned.rules, "CSV and HTML are targets as well"
    refused = empty.call("-n", targets[0], settings=[*settings, 'systems=["pascal"]'])
    assert refused.code == 1
    (line,) = (line for line in refused.output.splitlines() if line.startswith("Error: "))
    assert "A figure of constructions compares a baseline with other systems: name at least two" in line


def test_every_rule_has_a_log_a_benchmark_an_environment_and_resources(root):
    rules = {}
    for path in [root / "Snakefile", *sorted((root / "workflow/rules").glob("*.smk"))]:
        rules |= dict(RULE.findall(path.read_text(encoding="utf-8")))
    local = {name for name, body in rules.items() if "resources:" not in body}
    scores = {"score_tests", "score_gold", "summarise_seeds", "import_translations", "prepare_comet", "score_comet"}
    pages = {"demo", "paper_page", "report_page", "write_manifest", "index_runs"}
    tables = {rule for rule in rules if rule.endswith(("_table", "_figure"))} | pages
    assert {"data_table", "annotation_table", "parser_table", "system_table", "gate_table"} <= tables
    assert local - TARGETS == scores | tables, "all rules but the small local ones set their resources"
    assert len(rules) > len(TARGETS) + 10
    for name in rules.keys() - TARGETS:
        for part in ("log:", "benchmark:", "conda:", "script:"):
            own = "shell:" if (name, part) == ("run_comet", "script:") else part  # an environment without Snakemake
            assert own in rules[name], f"rule {name} has no {own}"


@pytest.mark.parametrize(("gpus", "threads", "memory"), [(1, 2, 8000), (4, 8, 32000)])
def test_training_requests_memory_and_threads_for_each_gpu(empty, gpus, threads, memory):
    target = "results/smoke/demo_en2de/transformer_base.bleu"
    settings = ["device=cuda", f"gpus={gpus}", "threads=2"]
    slurm = ["--workflow-profile", str(empty.snakefile.parent / "profiles/slurm"), "--cores", "16"]
    planned = empty.plan(target, *slurm, settings=settings)
    jobs = {name: body for name, body in RULE.findall(planned.output) if name in ("train_model", "translate_tests")}
    requested = {
        name: [int(re.search(rf"{key}(\d+)", body)[1]) for key in ("threads: ", "mem_mb=", "gpu=")]
        for name, body in jobs.items()
    }
    assert requested == {"train_model": [threads, memory, gpus], "translate_tests": [2, 8000, 1]}


def test_the_snakefile_imports_no_heavy_packages(root):
    rules = "".join(path.read_text(encoding="utf-8") for path in (root / "workflow/rules").glob("*.smk"))
    imports = re.findall(r"^from (nmtcore\S*) import", rules + (root / "Snakefile").read_text(), re.MULTILINE)
    assert {"nmtcore.config.project", "nmtcore.corpus.download_plan", "nmtcore.job"} <= set(imports)
    code = "\n".join(f"import {name}" for name in imports) + (
        "\nimport sys\nheavy = {'torch', 'pandas', 'spacy', 'stanza', 'numpy', 'pyarrow', 'sacrebleu'}"
        "\nprint(*sorted(heavy & set(sys.modules)))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == ""
