"""The table of the data sets' sizes after each stage."""

from pair_files import write_corpus

from nmtcore.files import write_json, write_text
from nmtcore.layout import Layout
from nmtcore.reporting.data_table import data_page
from nmtcore.reporting.markdown import page_markdown

RAW = {"pairs": 1100, "kept": 1099, "dropped": {"not UTF-8": 1}, "warnings": ["The text looks unsegmented."]}
FILTERED = {
    "pairs": 1099,
    "kept": 1000,
    "dropped": {"empty": 0, "length": 90, "duplicates": 9},
    "corpora": {
        "europarl": {"pairs": 1000, "kept": 905, "dropped": {"empty": 0, "length": 90, "duplicates": 5}},
        "news": {"pairs": 99, "kept": 95, "dropped": {"empty": 0, "length": 0, "duplicates": 4}},
    },
}
SELECTED = {"pairs": 1000, "kept": 3, "dropped": {"no ccg on the target side": 997}}


def write_results(tmp_path):
    folder = tmp_path / "results/tr2en"
    dev = {"pairs": 7, "kept": 7, "dropped": {}}
    reports = {
        "corpus/raw/train.json": RAW,
        "corpus/raw/dev.json": dev,
        "corpus/train.json": FILTERED,
        "corpus/dev.json": dev,
        "annotation/parser/train.target.json": {"sentences": 1000},
        "annotation/selection/train.json": SELECTED,
    }
    for name, report in reports.items():
        write_json(folder / name, report)
    features = [folder / f"features/bpe_9/train.{side}.parquet" for side in ("source", "target")]
    for path in features:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_corpus(path, [["a"]] * 3)
    return [folder / name for name in reports], features


def make_table(tmp_path):
    reports, features = write_results(tmp_path)
    published, layout = {"tr2en": {"train": 206625}}, Layout(results=tmp_path / "results")
    return page_markdown(data_page(reports, features=features, published=published, layout=layout)).splitlines()


def test_the_table_has_the_pairs_after_each_stage(tmp_path):
    lines = make_table(tmp_path)
    dropped = "not UTF-8 (1); length (90), duplicates (9); no ccg on the target side (997)"
    assert f"| tr2en | train | {dropped} | 1,100 | 1,099 | 1,000 | 3 | 3 | 206,625 |" in lines
    assert "| tr2en | dev |  | 7 | 7 | 7 |  |  |  |" in lines


def test_warnings_from_reading_are_listed_once(tmp_path):
    lines = make_table(tmp_path)
    assert lines[lines.index("## Warnings") + 2] == "- tr2en, train: The text looks unsegmented."
    assert sum("unsegmented" in line for line in lines) == 1


def test_dropped_pairs_are_counted_per_filter_and_corpus(tmp_path):
    lines = make_table(tmp_path)
    assert "| tr2en | train | europarl | length (90), duplicates (5) | 1,000 | 905 |" in lines
    assert "| tr2en | train | news | duplicates (4) | 99 | 95 |" in lines
    assert "| tr2en | train | all | length (90), duplicates (9) | 1,099 | 1,000 |" in lines


def test_the_times_of_a_stage_are_summed_over_its_jobs(tmp_path):
    benchmarks = tmp_path / "results/benchmarks"
    times = {
        "corpus/raw.train": 1,
        "corpus/raw.dev": 2,
        "corpus/train": 4,
        "corpus/rest": 8,
        "annotation/parser/train.target.0-of-1": 16,
        "annotation/selection": 32,
        "annotation/parser/dev.target.against.existing": 64,
        "features/bpe_9/train.source": 128,
    }
    for name, seconds in times.items():
        write_text(benchmarks / f"tr2en/{name}.tsv", f"s\th:m:s\n{seconds}\tx\n")
    lines = make_table(tmp_path)
    assert "| tr2en | 3.0 s | 12 s | 48 s | 2 min 8 s |" in lines


def test_times_without_benchmarks_are_blank(tmp_path):
    lines = make_table(tmp_path)
    assert "| tr2en |" in lines
