"""Estimates of costs: numbers counted by hand, what is shared, finished or unknown, and broken files of speeds."""

import json
import re

import pytest
import yaml
from factories import run_settings
from workflow.calling import little

from nmtcore.cli import main
from nmtcore.config.planned_costs import Estimate
from nmtcore.config.project import Project
from nmtcore.config.speeds import DeviceSettings, TrainingSpeed, read_speeds
from nmtcore.config.training import TrainingSettings
from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.planning.costs import planned_costs
from nmtcore.planning.data_costs import result_files
from nmtcore.planning.device_speeds import interpolated, search_share
from nmtcore.planning.known_sizes import sentence_pairs
from nmtcore.planning.paper_tables import all_tables, named_tables
from nmtcore.planning.run_costs import run_updates
from nmtcore.reporting.cost_table import cost_lines, cost_markdown

SPEEDS = {
    "cpu": "slow",
    "devices": {
        "slow": {
            "device": "cpu",
            "description": "a slow core",
            "source": "made up",
            "training": [{"width": 32, "gigaflops": 1}],
            "search": 0.5,
            "seconds_per_run": 5,
        }
    },
    "subwords_per_sentence": 10,
    "annotation": [{"tool": "spacy", "language": "en", "sentences_per_second": 2}],
    "bytes_per_subword": {"corpus": 7, "annotation": 4, "tokens": 2, "syntax": 5},
}
TABLES = {
    name: {"kind": "scores", "place": name, "rows": rows, "columns": ["tiny/test/bleu"]}
    for name, rows in {"first": ["transformer_base"], "second": ["transformer_base", "pascal"]}.items()
}
FOLDER = "results/smoke/tiny/transformer_base/seed1"

UPDATE = 6 * 384 * 67_840
"""Operations of an update: 384 positions, 6 layers of 8,192 weights, one of 12,288, and 200 outputs of width 32."""
VALIDATION = 2 * 500 * 67_840 + 2 * 500 * 67_840 / 0.5
"""Operations of a validation: perplexity and greedy search of 50 sentences of 10 subwords."""
TRANSLATION = 2 * (400 + 500) * (49_152 + 4 * 18_688) / 0.5
"""Operations of translating test and dev with a beam of 4."""
SECONDS = 260 * UPDATE / 1e9 + 2 * VALIDATION / 1e9 + TRANSLATION / 1e9 + 5
BYTES = 70_624 * 4 * (1 + 3 * 6)
"""A model of 70,624 parameters and six checkpoints of it with two moments: four to average, the next, and the best."""
DATA = (1000 + 50 + 40) * 10 * (2 * 7 + 2 * 2)
"""Pairs before and after the filters, and the subwords of both sides."""


@pytest.fixture
def costs_of(make_project, tmp_path):
    """Estimate the costs of two tables on the data set `tiny`; `speeds` changes speeds.yaml."""

    def estimate(
        speeds=None, *, settings=None, tables=("mine_first", "mine_second"), files=(), on_gpu=False, **dataset
    ):
        pairs = {"published": {"pairs": {"train": 1000, "dev": 50, "test": 40}}}
        parser = {"annotators": {"trees": {"tool": "spacy", "model": "xx"}}}
        syntax = {"syntax": {"source": {"dependencies": "trees"}}}
        (tmp_path / "config/tables").mkdir(parents=True, exist_ok=True)
        (tmp_path / "config/tables/mine.yaml").write_text(yaml.safe_dump({"title": "mine", "tables": TABLES}))
        (tmp_path / "config/speeds.yaml").write_text(yaml.safe_dump(SPEEDS | (speeds or {})))
        configured = {"seeds": [1], "stand_ins": None} | (settings or {})
        project = make_project(configured, tiny=little(**pairs | parser | syntax | dataset))
        return planned_costs(project, tables=tables, files=files, on_gpu=on_gpu)

    return estimate


def test_a_table_costs_what_a_count_by_hand_gives(costs_of):
    costs = costs_of(tables=["mine_first"])
    (row,) = costs.rows
    assert (row.runs, row.finished, row.counted, row.new) == (1, 0, 0, 1)
    assert row.updates == Estimate(value=260)
    assert row.training_hours.value == pytest.approx(SECONDS / 3600)
    assert row.annotation_hours == Estimate()
    assert row.disk_bytes.value == pytest.approx(BYTES + DATA)
    assert costs.hours == "core-hours"


def test_a_shared_run_counts_once(costs_of):
    costs = costs_of()
    first, second = costs.rows
    assert (first.new, second.new, second.runs, second.counted) == (1, 1, 2, 1)
    assert second.updates.value == 260
    assert second.disk_bytes.value == pytest.approx(BYTES + (1000 + 50 + 40) * 10 * (4 + 5)), "the pairs are counted"
    assert second.annotation_hours.value == pytest.approx((1000 + 50 + 40) / 2 / 3600)
    assert (costs.total.runs, costs.total.new, costs.total.counted) == (2, 2, 0)
    assert costs.total.updates.value == 520
    again = costs_of(tables=["mine_second", "mine_first"])
    assert again.total.disk_bytes.value == pytest.approx(costs.total.disk_bytes.value)
    assert again.rows[1].new == 0


def test_files_that_no_table_needs_count_once(costs_of):
    trees = [f"results/tiny/annotation/trees/{split}.source.parquet" for split in ("train", "test")]
    others = [*trees, trees[0], f"{FOLDER}/scores.json", "results/tiny/corpus/test.parquet", "elsewhere"]
    with_trees = costs_of(tables=["mine_first"], files=others)
    first, row = with_trees.rows
    assert first == costs_of(tables=["mine_first"]).rows[0]
    assert (row.name, row.runs, row.new, row.updates) == ("no paper's table", 0, 0, Estimate())
    assert row.annotation_hours.value == pytest.approx((1000 + 40) / 2 / 3600)
    assert row.disk_bytes.value == pytest.approx((1000 + 40) * 10 * 4)
    assert with_trees.total.annotation_hours == row.annotation_hours
    again = costs_of(tables=["mine_first", "mine_second"], files=others)
    assert [row.name for row in again.rows] == ["mine_first", "mine_second"], "the second table needs these trees"


def test_seeds_are_runs(costs_of):
    assert costs_of(settings={"seeds": [1, 2, 3]}).total.updates.value == 6 * 260


def test_finished_runs_and_data_that_are_there_cost_nothing(costs_of, tmp_path):
    (tmp_path / FOLDER / "model").mkdir(parents=True)
    for split in ("train", "dev", "test"):
        path = tmp_path / f"results/tiny/annotation/trees/{split}.source.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    costs = costs_of()
    first, second = costs.rows
    assert (first.finished, first.new) == (1, 0)
    assert first.disk_bytes == first.training_hours == Estimate()
    assert (second.finished, second.new, second.counted) == (1, 1, 0)
    assert second.annotation_hours == Estimate()
    assert (costs.total.runs, costs.total.finished) == (2, 1)


def test_nothing_is_said_when_everything_is_there(costs_of, tmp_path):
    (tmp_path / FOLDER / "model").mkdir(parents=True)
    assert cost_lines(costs_of(tables=["mine_first"])) == []


def test_too_little_disk_space_is_reported(costs_of):
    costs = costs_of(tables=["mine_first"])
    size = costs.total.disk_bytes.value
    assert cost_lines(costs, free=int(size) + 1) == cost_lines(costs)
    assert cost_lines(costs, free=2_500_000) == [*cost_lines(costs), "Only 2.5 MB of disk space are free."]


def test_what_is_unknown_is_called_unknown(costs_of):
    costs = costs_of({"annotation": []})
    line = cost_lines(costs)[3]
    assert re.fullmatch(r"mine_second +2 +0 +1 +1 +260 +0.01 +unknown +\S+ MB", line)
    assert costs.notes[-1] == "Unknown (+ ?): the speed of spacy (en)."
    published = costs_of(published={"pairs": {"train": 1000, "test": 40}}, tables=["mine_first"])
    assert not published.total.training_hours.unknown, "the scale limits dev to 100 sentences"
    assert published.total.disk_bytes.unknown == 3, "its pairs, and the subwords of both sides"
    assert "Unknown (+ ?): the size of tiny, dev." in published.notes
    larger = costs_of(published={"pairs": {"train": 1000}}, tables=["mine_first"], settings={"scale": "quick"})
    assert larger.total.training_hours.unknown == 3, "validations, and translations of both tests"
    assert larger.total.training_hours.value > 0
    unread = costs_of({"subwords_per_sentence": None}, tables=["mine_first"])
    assert unread.total.disk_bytes == Estimate(value=BYTES, unknown=9)
    assert "Unknown (+ ?): the length of sentences." in unread.notes


def test_the_speed_of_a_base_without_one_is_unknown(costs_of):
    TABLES_OF_NMT = {"kind": "scores", "place": "x", "rows": ["nmt"], "columns": ["tiny/test/bleu"]}
    TABLES["nmt"] = TABLES_OF_NMT
    try:
        costs = costs_of(tables=["mine_nmt"])
    finally:
        del TABLES["nmt"]
    assert costs.total.training_hours == Estimate(unknown=1)
    assert costs.total.updates == Estimate(value=260)
    assert "Unknown (+ ?): the speed of recurrent models on a slow core." in costs.notes


def test_a_gpu_without_a_measured_speed_has_its_share_of_the_peak(costs_of):
    card = {"device": "gpu", "description": "a card", "source": "assumed", "search": 0.5}
    assumed = {"peak_teraflops": {"fp32": 2}, "share_of_peak": 0.25, "seconds_per_update": 0.01}
    costs = costs_of({"gpu": "card", "devices": SPEEDS["devices"] | {"card": card | assumed}}, on_gpu=True)
    assert costs.hours == "GPU-hours"
    seconds = (SECONDS - 5) * 1e9 / 0.5e12 + 260 * 0.01
    assert costs.rows[0].training_hours.value == pytest.approx(seconds / 3600)
    assert any("a card, by speeds.yaml: assumed" in note for note in costs.notes)
    without = costs_of({"gpu": "card", "devices": SPEEDS["devices"] | {"card": card}}, on_gpu=True)
    assert without.rows[0].training_hours == Estimate(unknown=1)


def test_a_search_is_in_fp32_whatever_the_precision_of_training():
    card = {"device": "gpu", "description": "a card", "source": "assumed", "search": 0.5, "share_of_peak": 0.2}
    run = run_settings(training=TrainingSettings(max_updates=1, precision="bf16"))
    shares = [
        search_share(build(DeviceSettings, card | changes, where="test"), run)
        for changes in (
            {"peak_teraflops": {"fp32": 2, "bf16": 8}},
            {"peak_teraflops": {"bf16": 8}},
            {"peak_teraflops": {"fp32": 2, "bf16": 8}, "training": [{"width": 512, "gigaflops": 1}]},
        )
    ]
    assert shares == [0.125, 0.5, 0.5]


def write_manifest(folder, **changes):
    manifest = {
        **{"scale": "smoke", "dataset": "tiny", "system": "transformer_base", "seed": 1},
        "device": {"kind": "cpu", "name": "my processor", "gpus": 0, "threads": 1},
        "training": {"updates": 260, "seconds": 100.0},
    }
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps(manifest | changes))


def test_finished_runs_of_the_folder_win_over_speeds_yaml(costs_of, tmp_path):
    write_manifest(tmp_path / FOLDER)
    costs = costs_of(settings={"seeds": [1, 2]}, tables=["mine_first"])
    own = (260 * UPDATE + 2 * VALIDATION) / 100.0
    seconds = (260 * UPDATE + 2 * VALIDATION + TRANSLATION) / own + 5
    assert costs.total.training_hours.value == pytest.approx(2 * seconds / 3600)
    assert "Speed at width 32: that of 1 finished run of this folder (my processor)." in costs.notes
    assert not any("speeds.yaml: made up" in note for note in costs.notes)


@pytest.mark.parametrize(
    "changes",
    [
        {"device": {"kind": "cuda", "name": "a card", "gpus": 1, "threads": 1}},
        {"device": None},
        {"training": None},
        {"training": {"updates": 260, "seconds": 0.0}},
        {"system": "gone"},
    ],
)
def test_other_runs_do_not_count(costs_of, tmp_path, changes):
    write_manifest(tmp_path / FOLDER, **changes)
    (row,) = costs_of(tables=["mine_first"]).rows
    assert row.training_hours.value == pytest.approx(SECONDS / 3600)


def test_two_threads_are_two_core_hours(costs_of, tmp_path):
    device = {"kind": "cpu", "name": "my processor", "gpus": 0, "threads": 2}
    write_manifest(tmp_path / FOLDER, device=device, training={"updates": 260, "seconds": 50.0})
    two = costs_of(tables=["mine_first"]).total
    (tmp_path / FOLDER / "manifest.json").unlink()
    (tmp_path / FOLDER).rmdir()
    write_manifest(tmp_path / FOLDER)
    assert costs_of(tables=["mine_first"]).total == two


def test_pairs_are_counted_published_or_configured(make_project, tmp_path):
    project = make_project(tiny=little(published={"pairs": {"train": 7}}))
    assert sentence_pairs(project, "tiny", "train") == 7
    assert sentence_pairs(project, "tiny", "dev") is None
    assert sentence_pairs(project, "demo_en2de", "train") == 20_000
    assert sentence_pairs(project, "demo_en2de", "treebank_demo") == 500
    limited = {"train": {"corpus": "train", "first": 3, "last": 6}, "dev": {"corpus": "dev", "sample": 2}}
    project = make_project(tiny=little(splits=limited | {"test": "test"}, published={"pairs": {"train": 7, "dev": 9}}))
    assert [sentence_pairs(project, "tiny", split) for split in ("train", "dev", "test")] == [4, 2, None]
    report = tmp_path / "results/tiny/corpus/train.json"
    report.parent.mkdir(parents=True)
    report.write_text('{"kept": 5}')
    assert sentence_pairs(project, "tiny", "train") == 5
    for broken in ("[]", '{"kept": "x"}', "{}"):
        report.write_text(broken)
        with pytest.raises(UserError, match="has no number 'kept': delete it and run the workflow again"):
            sentence_pairs(project, "tiny", "train")


def test_updates_are_limited_by_epochs(make_project):
    project = make_project()
    run = project.run("wmt17_tr2en", "transformer_base", "paper", 1)
    assert (run.training.max_epochs, run.training.batch.size, run.training.max_updates) == (100, 4096, None)
    assert run_updates(run, pairs=4096, subwords=2.5) == 100 * 3
    assert run_updates(run, pairs=None, subwords=2.5) is None
    assert run_updates(run, pairs=10, subwords=None) is None
    assert run_updates(project.run("wmt16_en2de", "pascal", "paper", 1), pairs=None, subwords=None) == 100_000


def test_training_that_validations_end_has_at_most_its_updates(make_project):
    project = make_project({"scale": "paper"})
    rows = {row.name: row for row in planned_costs(project, tables=all_tables(project), on_gpu=True).rows}
    assert rows["tran2018_table_2"].updates.at_most
    assert rows["aycock2021_table_5_1"].updates.at_most
    assert not rows["pham2018_table_6_1"].updates.at_most
    assert rows["pham2018_table_6_1"].updates.value == 500_000 * rows["pham2018_table_6_1"].new


def test_trees_count_where_a_table_needs_them(make_project):
    project = make_project({"scale": "paper"})
    tables = named_tables(project, ["tran2018"], where="test")
    rows = {row.name: row for row in planned_costs(project, tables=tables, on_gpu=True).rows}
    unknown = {name: row.annotation_hours.unknown for name, row in rows.items() if row.annotation_hours.unknown}
    # Translations are scored without trees; gates need the tags of the target, figure 4 shows trees of the source.
    assert unknown == {"tran2018_gate_argmax_upos": 1, "tran2018_figure_4": 1}


def test_scores_need_trees_and_gates_need_tags(make_project):
    project = make_project()
    run = project.run("multi30k_en2de", "depparse_l1", "smoke", 1)
    folder = "results/smoke/multi30k_en2de/depparse_l1/seed1"
    scores = result_files(project, run, project.layout.parse(f"{folder}/scores.json"))
    assert scores
    assert all(path.startswith("results/multi30k_en2de/annotation/stanza_en/") for path in scores)
    assert result_files(project, run, project.layout.parse(f"{folder}/hypotheses")) == []
    run = project.run("wmt17dev15_en2de", "sa_nmt_shared", "smoke", 1)
    path = "results/smoke/wmt17dev15_en2de/sa_nmt_shared/seed1/gates/test_wmt16.parquet"
    gates = result_files(project, run, project.layout.parse(path))
    assert gates[-1] == "results/wmt17dev15_en2de/annotation/stanza_de/test_wmt16.target.parquet"


def test_speeds_are_interpolated_between_widths():
    points = [TrainingSpeed(width=width, gigaflops=speed) for width, speed in ((400, 40), (100, 10))]
    assert interpolated(points, 50) == interpolated(points, 100) == 1e10
    assert interpolated(points, 200) == pytest.approx(2e10)
    assert interpolated(points, 400) == interpolated(points, 4000) == 4e10


@pytest.mark.parametrize(
    ("speeds", "sentence"),
    [
        ({"cpu": "fast"}, "cpu: there is no device 'fast' in devices"),
        ({"gpu": "slow"}, "gpu: the device of 'slow' is cpu, not gpu"),
        ({"subwords_per_sentence": -1}, "subwords_per_sentence must be above 0, not -1"),
        ({"devices": {"mine": {"serch": 1}}}, "devices: mine: unknown key 'serch'. Did you mean search"),
        ({"devices": {"h100": {"training": [{"base": "x", "width": 1, "gigaflops": 1}]}}}, "base is one of recurrent"),
        ({"devices": {"new": {"device": "gpu"}}}, "the keys 'description', 'source', 'search' are missing"),
    ],
)
def test_broken_speeds_get_sentences(costs_of, tmp_path, speeds, sentence):
    with pytest.raises(UserError) as error:
        costs_of(speeds)
    assert sentence in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "config/speeds.yaml"))
    assert all(line.startswith(str(tmp_path)) for line in str(error.value).split("\n"))


def test_a_file_of_ones_own_changes_the_shipped_one(root, tmp_path):
    (tmp_path / "speeds.yaml").write_text("gpu: gtx_1080_ti\n")
    speeds = read_speeds([tmp_path, root / "config"])
    assert speeds.gpu == "gtx_1080_ti"
    assert speeds.devices == read_speeds([root / "config"]).devices
    with pytest.raises(UserError, match=r"There is no speeds\.yaml in"):
        read_speeds([tmp_path / "nowhere"])


def test_the_page_of_costs_is_up_to_date(root, tmp_path):
    project = Project.load(root / "config", paths={"results": str(tmp_path)})
    assert project.settings.scale == "paper"
    costs = planned_costs(project, tables=all_tables(project), on_gpu=True)
    page = (root / "docs/cost.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^nmtcore cost .*$", page, re.M)
    assert f"<!-- costs -->\n\n{cost_markdown(costs)}\n<!-- end -->" in page, f"run `{command}`"


def test_the_command_names_its_own_option_for_a_gpu(root, capsys):
    main(["cost", "pham2018_table_6_1", "--config", str(root / "config"), "--scale", "paper", "--from-scratch"])
    assert re.search(r"^GPU-hours \(.*, by speeds.yaml\): --device cuda\.$", capsys.readouterr().out, re.M)


def test_the_command_updates_a_page(root, tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- costs -->\nold\n<!-- end -->\nafter\n")
    call = ["cost", "pham2018_table_6_1", "--config", str(root / "config"), "--from-scratch", "--device", "cuda"]
    main([*call, "--update", str(page)])
    printed = capsys.readouterr().out
    assert re.search(r"^pham2018_table_6_1 +16 +0 +0 +16 +8,000,000 ", printed, re.M)
    text = page.read_text()
    assert text.startswith("before\n<!-- costs -->\n\n| table | runs |")
    assert text.endswith("\n<!-- end -->\nafter\n")
    assert "old" not in text
    page.write_text("nothing")
    with pytest.raises(SystemExit):
        main([*call, "--update", str(page)])
    assert "has no place for the table" in capsys.readouterr().err
