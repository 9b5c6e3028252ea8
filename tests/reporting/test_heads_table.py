"""The table of the attention heads that parse best."""

from nmtcore.evaluation.induction import BASELINES, MEASURES
from nmtcore.files import write_json
from nmtcore.reporting.markdown import page_markdown
from nmtcore.reporting.plain_tables import head_page


def scores(*values):
    return dict(zip(MEASURES, values, strict=True)) | {"scored_words": 1200}


def write_run(folder, system, seed, heads, *, split="gold_pud", components=None):
    path = folder / f"{system}/seed{seed}/heads/{split}.json"
    names = {"dataset": "d", "system": system, "scale": "quick", "seed": seed, "split": split}
    baselines = {name: scores(10, 20, 30) for name in sorted(BASELINES)}
    write_json(path, {**names, "heads": heads, "baselines": baselines, "components": components or {}})
    return path


def test_the_three_best_heads_of_every_run_follow_the_baselines(tmp_path):
    heads = {
        "0.0": scores(20, 45.5, 40),
        "0.1": scores(30, 41, 40),
        "1.0": scores(30, 42, 40),
        "11.7": scores(8, 99, 99),
    }
    files = [
        write_run(tmp_path, "base", 1, heads),
        write_run(tmp_path, "base", 1, {"0.0": scores(None, None, None)}, split="gold_ewt"),
        write_run(tmp_path, "depparse", 2, {"1.0": scores(70.123, 80, 75)}, components={"1.0": "depparse"}),
    ]
    text = page_markdown(head_page(files))
    assert text.splitlines()[2:13] == [
        "| d | gold_ewt | left |  |  |  |  | 10.00 | 20.00 | 30.00 | 1,200 |",
        "| d | gold_ewt | random |  |  |  |  | 10.00 | 20.00 | 30.00 | 1,200 |",
        "| d | gold_ewt | right |  |  |  |  | 10.00 | 20.00 | 30.00 | 1,200 |",
        "| d | gold_ewt | base |  | 1 | 0 | 0 |  |  |  | 1,200 |",
        "| d | gold_pud | left |  |  |  |  | 10.00 | 20.00 | 30.00 | 1,200 |",
        "| d | gold_pud | random |  |  |  |  | 10.00 | 20.00 | 30.00 | 1,200 |",
        "| d | gold_pud | right |  |  |  |  | 10.00 | 20.00 | 30.00 | 1,200 |",
        "| d | gold_pud | base |  | 1 | 1 | 0 | 30.00 | 42.00 | 40.00 | 1,200 |",
        "| d | gold_pud | base |  | 1 | 0 | 1 | 30.00 | 41.00 | 40.00 | 1,200 |",
        "| d | gold_pud | base |  | 1 | 0 | 0 | 20.00 | 45.50 | 40.00 | 1,200 |",
        "| d | gold_pud | depparse | depparse | 2 | 1 | 0 | 70.12 | 80.00 | 75.00 | 1,200 |",
    ]
    assert "Scale quick." in text
