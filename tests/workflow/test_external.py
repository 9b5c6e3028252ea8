"""Translations made elsewhere in the workflow: scored and tabulated like those of trained systems."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from forked_python import forked_python
from workflow.calling import make_workplace

from nmtcore.files import read_lines
from nmtcore.parquet import read_rows

pytestmark = pytest.mark.slow

RUN = "results/smoke/demo_en2de/engine"
SETTINGS = ["scale=smoke", "datasets=[demo_en2de]", "systems=[engine]", "seeds=[1,2,3]"]


def scores_of(workplace, seed):
    return json.loads((workplace.folder / RUN / f"seed{seed}/scores.json").read_text(encoding="utf-8"))["bleu"]


@pytest.fixture(scope="module")
def external(root, tmp_path_factory):
    """A working directory with the scores of two files: every third word is missing, and every second line."""
    workplace = make_workplace(tmp_path_factory.mktemp("external"), root / "Snakefile")
    workplace.train_briefly()
    files = ["../text/words.txt", "../text/lines.txt"]
    entry = {"provenance": "An engine", "date": "2026-11-20", "licence": "not to be published"}
    entry["translations"] = {"demo_en2de": {"test": files}}
    workplace.write("systems/mine", {"engine": {"description": "An engine", "external": entry}})
    workplace.run("results/demo_en2de/corpus/test.parquet")
    pairs = read_rows(workplace.folder / "results/demo_en2de/corpus/test.parquet", columns=["id", "target"])
    texts = [(row["id"], row["target"].split()) for row in pairs]
    assert [id for id, _ in texts] == list(range(500))
    (workplace.folder / "text").mkdir()
    for name, cut in (
        ("words", lambda id, words: [word for i, word in enumerate(words) if (id + i) % 3]),
        ("lines", lambda id, words: words if id % 2 else []),
    ):
        lines = "".join(" ".join(cut(id, words)) + "\n" for id, words in texts)
        (workplace.folder / f"text/{name}.txt").write_text(lines, encoding="utf-8")
    workplace.run(f"{RUN}.bleu", "results/tables/systems.md", settings=SETTINGS)
    return workplace


def test_scores_are_those_of_the_first_lines_of_the_files(external):
    import sacrebleu

    rows = read_rows(external.folder / "results/demo_en2de/corpus/test.parquet", columns=["target"], stop=100)
    references = [row["target"] for row in rows]
    for seed, name in ((1, "words"), (2, "lines")):
        lines = read_lines(external.folder / f"text/{name}.txt")[:100]
        scores = scores_of(external, seed)
        assert list(scores) == ["test"], "dev has no translations"
        assert scores["test"]["bleu"] == pytest.approx(sacrebleu.corpus_bleu(lines, [references]).score, abs=1e-9)
        assert scores["test"]["chrf"] == pytest.approx(sacrebleu.corpus_chrf(lines, [references]).score, abs=1e-9)
        assert 5 < scores["test"]["bleu"] < 95
    summary = json.loads((external.folder / f"{RUN}.bleu").read_text(encoding="utf-8"))
    assert summary["seeds"] == [1, 2]
    assert summary["splits"]["test"]["bleu"]["values"] == [scores_of(external, seed)["test"]["bleu"] for seed in (1, 2)]


def test_nothing_is_trained(external):
    assert not (external.folder / RUN / "seed1/model").exists()
    assert not (external.folder / "results/demo_en2de/features").exists()


def test_the_table_has_a_row_without_training(external):
    text = (external.folder / "results/tables/systems.md").read_text(encoding="utf-8")
    (row,) = (line for line in text.splitlines() if line.startswith("| demo_en2de | engine | test |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert "±" in cells[3]
    assert cells[5:] == [""] * (len(cells) - 5), "neither trees nor dev nor training"
    assert "engine (seeds 1, 2) was not trained here; its translations: An engine; 2026-11-20" in text


def manifest_of(workplace, seed):
    return json.loads((workplace.folder / RUN / f"seed{seed}/manifest.json").read_text(encoding="utf-8"))


def test_a_killed_workflow_leaves_manifests_that_the_next_call_mends(external):
    summary = external.folder / f"{RUN}.bleu"
    scores = [external.folder / RUN / f"seed{seed}/scores.json" for seed in (1, 2)]
    manifests = [path.with_name("manifest.json") for path in scores]
    for path in (summary, *scores, *manifests):
        path.unlink()
    process = external.start("--cores", "1", f"{RUN}.bleu", settings=SETTINGS)
    while process.poll() is None and not any(path.exists() for path in manifests):
        time.sleep(0.02)
    assert not summary.exists(), "manifests are written before the workflow ends"
    process.kill()
    process.communicate()
    for seed, path in enumerate(manifests, start=1):
        assert not path.exists() or manifest_of(external, seed)["status"] == "complete"

    external.call("--unlock", settings=SETTINGS)
    external.run(f"{RUN}.bleu", settings=SETTINGS)
    for seed, path in enumerate(manifests, start=1):
        path.write_text(json.dumps(manifest_of(external, seed) | {"status": "interrupted", "scores": None}))
        os.utime(path, (1, 1))
    assert "Nothing to be done" in external.run(f"{RUN}.bleu", settings=SETTINGS).output
    for seed in (1, 2):
        assert manifest_of(external, seed)["status"] == "complete"
        assert manifest_of(external, seed)["scores"]["test"]["BLEU"] == scores_of(external, seed)["test"]["bleu"]


def test_the_translations_have_a_row_of_the_licences(external):
    external.run("results/tables/licences.md", settings=SETTINGS)
    text = (external.folder / "results/tables/licences.md").read_text(encoding="utf-8")
    assert "| translations | engine | not to be published |  | 2 | 2 | demo_en2de |" in text


def test_the_results_are_listed(external):
    command = [forked_python(), "-m", "nmtcore", "results", str(external.folder / "results")]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (row,) = (line.split() for line in listed.splitlines() if " engine " in line)
    assert row[:6] == ["smoke", "demo_en2de", "engine", "test", "1,", "2"]


def test_a_plan_names_the_seed_without_a_file(external):
    refused = external.call("-n", f"{RUN}/seed3/scores.json", settings=SETTINGS)
    assert refused.code == 1
    assert "engine on demo_en2de at scale smoke: has 2 files for test, so there is no seed 3" in refused.output
    sentence = "engine has no external translations of demo_en2de for seed 3: its scores lack them."
    for target in ("all", f"{RUN}.bleu"):
        planned = external.plan(target, settings=SETTINGS)
        assert planned.output.splitlines().count(sentence) == 1


def test_systems_are_compared_with_an_external_one(external):
    """The plan trains the other system only."""
    settings = [setting.replace("[engine]", "[transformer_base,engine]") for setting in SETTINGS]
    planned = external.plan("results/tables/constructions.md", "results/figures/curves.svg", settings=settings)
    assert "train_model" in planned.rules
    assert "import_translations" not in planned.rules, "imported already"
    assert "engine/seed1/model" not in planned.output


def test_a_changed_file_is_imported_again_and_a_short_one_is_refused(external):
    path = external.folder / "text/words.txt"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("e", "E"), encoding="utf-8")
    try:
        assert external.plan(f"{RUN}.bleu", settings=SETTINGS).rules == {
            "import_translations",
            "score_tests",
            "summarise_seeds",
        }
        path.write_text(text.rpartition("\n")[0].rpartition("\n")[0] + "\n", encoding="utf-8")
        refused = external.call("-n", f"{RUN}.bleu", settings=SETTINGS)
        assert refused.code == 1
        (error,) = (line for line in refused.output.splitlines() if line.startswith("Error: "))
        assert "text/words.txt has 499 lines, but the split test of demo_en2de (" in error
        assert error.endswith(
            "config/datasets/demo_en2de.yaml) has 500 pairs: provide one line for each pair, empty lines included."
        )
    finally:
        path.write_text(text, encoding="utf-8")


def test_an_external_system_is_a_row_of_an_own_table_in_which_a_run_is_missing(external):
    import sacrebleu

    table = {
        "kind": "scores",
        "rows": ["engine", "transformer_base"],
        "columns": ["demo_en2de/test/bleu", "demo_en2de/dev/bleu"],
        "baselines": ["engine"],
    }
    external.write("tables/mine", {"title": "Mine", "tables": {"engines": table}})
    settings = ["scale=smoke", "seeds=[1, 2]", "unfinished_runs=leave_out"]
    planned = external.plan("results/tables/mine.md", settings=settings)
    assert {"paper_table", "paper_page"} <= planned.rules <= {"paper_table", "paper_page", "import_translations"}
    external.run("results/tables/mine.md", settings=settings)
    text = (external.folder / "results/tables/mine.md").read_text(encoding="utf-8")
    files = [external.folder / RUN / f"seed{seed}/hypotheses/test" for seed in (1, 2)]
    outputs = [(read_lines(file.with_suffix(".txt")), read_lines(Path(f"{file}.references.txt"))) for file in files]
    cells = []
    for score, digits in ((sacrebleu.corpus_bleu, 2), (sacrebleu.corpus_chrf, 1)):
        first, second = (score(lines, [references]).score for lines, references in outputs)
        cells.append(f"{(first + second) / 2:.{digits}f} ± {abs(first - second) / 2**0.5:.{digits}f}")
    assert f"| engine | {cells[0]} | {cells[1]} | [a] |" in text
    assert "| transformer_base | [b] |  | [b] |  |" in text
    assert "[a] engine has no translations of demo_en2de, dev\n" in text
    assert "[b] transformer_base on demo_en2de has no finished run (unfinished_runs: leave_out)\n" in text
    assert "engine was not trained here; its translations: An engine; 2026-11-20; not to be published." in text
    for ending in ("csv", "tex", "html"):
        assert (external.folder / f"results/tables/mine_engines.{ending}").exists()
