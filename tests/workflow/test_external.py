"""Translations made elsewhere in the workflow: scored and tabulated like those of trained systems."""

import pytest
from demo_parts import part_of_demo
from workflow.calling import make_workplace

from nmtcore.files import read_json, read_lines
from nmtcore.parquet import read_rows

pytestmark = pytest.mark.needs("Snakemake")

COUNTS = {"train": 10, "dev": 5, "test": 120}
RUN = "results/smoke/short/engine"
SETTINGS = ["scale=smoke", "datasets=[short]", "systems=[engine]", "seeds=[1,2,3]"]
SENTENCE = "engine has no external translations of short for seed 3: its scores lack them."


def scores_of(workplace, seed):
    return read_json(workplace.folder / RUN / f"seed{seed}/scores.json")["bleu"]


@pytest.fixture(scope="module")
def external(root, tmp_path_factory):
    """A working directory with the scores of two files: every third word is missing, and every second line."""
    workplace = make_workplace(tmp_path_factory.mktemp("external"), root / "Snakefile")
    corpora = part_of_demo(workplace.folder / "demo", **COUNTS)
    workplace.write("datasets/short", {"extends": "demo_en2de", "corpora": corpora})
    files = ["../text/words.txt", "../text/lines.txt"]
    entry = {"provenance": "An engine", "date": "2026-11-20", "licence": "not to be published"}
    entry["translations"] = {"short": {"test": files}}
    workplace.write(
        "systems/mine", {"engine": {"description": "An engine", "compared_with": "transformer_base", "external": entry}}
    )
    workplace.run("results/short/corpus/test.parquet")
    pairs = read_rows(workplace.folder / "results/short/corpus/test.parquet", columns=["id", "target"])
    texts = [(row["id"], row["target"].split()) for row in pairs]
    assert [id for id, _ in texts] == list(range(120))
    (workplace.folder / "text").mkdir()
    for name, cut in (
        ("words", lambda id, words: [word for i, word in enumerate(words) if (id + i) % 3]),
        ("lines", lambda id, words: words if id % 2 else []),
    ):
        lines = "".join(" ".join(cut(id, words)) + "\n" for id, words in texts)
        (workplace.folder / f"text/{name}.txt").write_text(lines, encoding="utf-8")
    finished = workplace.run(f"{RUN}.bleu", "results/tables/systems.md", settings=SETTINGS)
    assert finished.output.splitlines().count(SENTENCE) == 1
    return workplace


def test_scores_are_those_of_the_first_lines_of_the_files(external):
    import sacrebleu

    rows = read_rows(external.folder / "results/short/corpus/test.parquet", columns=["target"], stop=100)
    references = [row["target"] for row in rows]
    for seed, name in ((1, "words"), (2, "lines")):
        lines = read_lines(external.folder / f"text/{name}.txt")[:100]
        scores = scores_of(external, seed)
        assert list(scores) == ["test"], "dev has no translations"
        assert scores["test"]["bleu"] == pytest.approx(sacrebleu.corpus_bleu(lines, [references]).score, abs=1e-9)
        assert scores["test"]["chrf"] == pytest.approx(sacrebleu.corpus_chrf(lines, [references]).score, abs=1e-9)
        assert 5 < scores["test"]["bleu"] < 95
    summary = read_json(external.folder / f"{RUN}.bleu")
    assert summary["seeds"] == [1, 2]
    assert summary["splits"]["test"]["bleu"]["values"] == [scores_of(external, seed)["test"]["bleu"] for seed in (1, 2)]


def test_nothing_is_trained_and_the_manifest_and_the_table_say_so(external):
    assert not (external.folder / RUN / "seed1/model").exists()
    assert not (external.folder / "results/short/features").exists()
    manifest = read_json(external.folder / RUN / "seed1/manifest.json")
    assert manifest["state"] == "finished"
    assert manifest["external"].startswith("An engine")
    *_, translations = manifest["data"]["files"]
    assert (translations["kind"], translations["licence"]) == ("translations", "not to be published")
    text = (external.folder / "results/tables/systems.md").read_text(encoding="utf-8")
    (row,) = (line for line in text.splitlines() if line.startswith("| engine |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert "±" in cells[1]
    assert cells[4:] == ["–"] * (len(cells) - 4), "neither dev nor training"
    assert "engine was not trained here; its translations: An engine; 2026-11-20" in text
