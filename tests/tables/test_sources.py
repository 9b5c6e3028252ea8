"""What tables are made from: the files of each measure, by the plan of tables of the papers and of one's own."""

import pytest
from workflow.calling import little

from nmtcore.tables.measures import MEASURES
from nmtcore.tables.plan import planned_table, table_inputs

RUN = "results/smoke/demo_en2de"
TREEBANK = [
    "results/demo_en2de/corpus/gold_demo.parquet",
    "results/demo_en2de/annotation/existing/gold_demo.source.parquet",
]


@pytest.fixture
def project(make_project):
    shown = "wmt17dev15_en2de/test_wmt16/shown"
    rows = ["nmt", "sa_nmt_shared", "transformer_base"]
    tables = {name: {"kind": name, "rows": rows, "columns": [shown]} for name in ("gates", "attention", "sharpness")}
    trees = ["wmt17dev15_en2de/gold_ud_english/trees"]
    tables["settings"] = {"kind": "scores", "rows": rows, "columns": ["nc11_de2en/test/heads"]}
    tables["trees"] = {"kind": "trees", "rows": ["nmt", "depparse_l1"], "columns": trees}
    return make_project(files={"tables/mine": {"tables": tables}})


def inputs(project, table):
    return table_inputs(project, table=table)


def cell(project, table, row, column=""):
    return planned_table(project, table).cell(row, column)


def test_measures_that_stand_beside_others_exist():
    assert {own for measure in MEASURES.values() for own in measure.also} <= MEASURES.keys()


def test_sizes_are_read_from_reports_and_counted_in_corpora(project):
    report = cell(project, "pham2018_dataset_sizes", "cs2en", "train/pairs").source
    assert report == {"files": {"report": "results/demo_en2de/corpus/train.json"}, "keys": ["kept"]}
    assert cell(project, "pham2018_dataset_sizes", "cs2en", "train/target_tokens").source == {
        "files": {"pairs": "results/demo_en2de/corpus/train.parquet", "selection": None},
        "side": "target",
    }
    assert set(inputs(project, "pham2018_dataset_sizes")) == {
        f"results/{dataset}/corpus/{file}"
        for dataset in ("demo_en2de", "demo_de2en")
        for file in ("train.json", "train.parquet", "dev.json", "test.json")
    }


def test_vocabularies_of_both_sides_are_found_by_their_language(project):
    folder = {"segmentation": "results/demo_en2de/segmentation/bpe_joint_2000"}
    for name, side in (("english", "source"), ("other", "target")):
        source = cell(project, "tran2018_table_1", "wmt17_en2ru", f"train/{name}_subwords").source
        assert source == {"files": folder, "side": side}
    missing = cell(project, "tran2018_table_1", "wmt17_en2ru", "test_wmt16/pairs").reason
    assert missing == "neither the paper's data set nor demo_en2de has the split test_wmt16"
    published = cell(project, "tran2018_table_1", "wmt17dev15_en2de", "test_wmt16/pairs").source
    assert published["files"] == {"report": "results/demo_en2de/corpus/test.json"}, "its main test stands in"


def test_selected_and_copied_pairs_of_the_papers_own_data_set(make_project):
    project = make_project({"scale": "paper"})
    assert cell(project, "tran2018_table_1", "wmt17dev15_en2de", "test/pairs").reason == (
        "wmt17dev15_en2de has no split test"
    )
    plain, copied = (
        [cell(project, "aycock2021_table_4_1", name, f"train/{metric}") for metric in ("pairs", "copied_sentences")]
        for name in ("wmt17_tr2en", "wmt17_tr2en_mono")
    )
    assert plain[0].source["files"] == {"report": "results/wmt17_tr2en/annotation/selection/train.json"}
    assert plain[1].reason == "wmt17_tr2en adds no copied sentences"
    assert copied[1].source["files"]["report"].startswith("results/wmt17_tr2en_mono/")
    tags = [cell(project, "aycock2021_tag_vocabulary", name, "types").source for name in ("source.dg_a", "target.ccg")]
    labels = {"labels": "results/wmt17_tr2en/annotation/stanza_tr/source.labels.json"}
    assert tags[0] == {"files": labels, "labels": "dg_a", "specials": False}
    assert tags[1]["files"]["labels"].endswith("/easyccg/target.labels.json")


def test_settings_are_those_of_the_papers_own_data_sets_and_need_no_file(project):
    assert inputs(project, "bugliarello2020_table_2") == []
    columns = ("learning_rate", "beta1", "beta2", "heads", "parent_ignoring")
    own = [cell(project, "bugliarello2020_table_2", "nc11_de2en", column).source["value"] for column in columns]
    assert own == [0.0007, 0.9, 0.997, 8, 0.0]
    assert cell(project, "bugliarello2020_released_training", "sisa", "nc11_de2en/beta2").source == {"value": 0.98}
    missing = cell(project, "mine_settings", "nmt", "nc11_de2en/test/heads").reason
    assert missing == "nmt scales no heads by parents"


def test_times_are_read_from_the_logs_of_the_system_and_of_the_baseline(project):
    source = cell(project, "pham2018_figure_6_4", "depparse_l5", "relative_time").source
    logs = {name: {seed: f"{RUN}/{name}/seed{seed}/training.jsonl" for seed in "12"}
            for name in ("depparse_l5", "transformer_base")}  # fmt: skip
    assert source == {"files": {"history": logs["depparse_l5"], "baseline": logs["transformer_base"]}}
    assert cell(project, "pham2018_figure_6_4", "depparse", "relative_time").reason == ""


def test_words_are_counted_in_english_features_and_drops_in_reports(project, make_project):
    share = cell(project, "bugliarello2020_facts", "wmt16_en2de", "english_words_of_at_most_7_subwords").source
    tokens = "results/demo_en2de/features/bpe_joint_2000/train.source.parquet"
    assert share == {"files": {"tokens": tokens}, "most": 7}
    dropped = cell(project, "bugliarello2020_facts", "wat_en2ja", "dropped_by_langdetect").reason
    assert dropped.startswith("demo_en2de is not filtered by langdetect")
    files = {"stand_ins/mine": {"description": "Mine", "datasets": {"wat_en2ja": "filtered"}}}
    other = make_project({"stand_ins": "mine"}, files, filtered=little(source="en", filters=["langdetect"]))
    assert cell(other, "bugliarello2020_facts", "wat_en2ja", "dropped_by_langdetect").source == {
        "files": {"report": "results/filtered/corpus/train.json"},
        "keys": ["dropped", "langdetect"],
    }
    missing = cell(other, "bugliarello2020_facts", "wmt16_en2de", "english_words_unsplit").reason
    assert missing.startswith("no data set stands in for wmt16_en2de")


def parses(*systems, file_type="gold/gold_demo", seeds=(1, 2), dataset="demo_en2de"):
    return {f"results/smoke/{dataset}/{system}/seed{seed}/{file_type}" for system in systems for seed in seeds}


def test_induction_reads_the_treebanks_and_all_counts(project):
    systems = ["fa_nmt_separate", "fa_nmt_shared", "sa_nmt_separate", "sa_nmt_shared", "sa_nmt_hard"]
    other = [path.replace("en2de", "de2en") for path in TREEBANK]
    counts = [parses(*systems, file_type="gold_counts", dataset=name) for name in ("demo_en2de", "demo_de2en")]
    assert set(inputs(project, "tran2018_table_3")) == {*TREEBANK, *other, *counts[0], *counts[1]}
    rows = [row.name for row in planned_table(project, "tran2018_table_3").rows]
    assert rows[:2] == ["fa_nmt_separate", "fa_nmt_separate, untrained"]
    assert rows[-3:] == ["left", "right", "random"]
    left = cell(project, "tran2018_table_3", "left", "wmt17_en2ru/gold_ud_english/undirected").source
    assert set(left["files"]["compared"].values()) == counts[0]
    assert (left["column"], left["baseline"]) == ("undirected_gold_edges", "left")
    claimed = [own.baseline.source for own in planned_table(project, "tran2018_table_3").claims if not own.reason]
    assert left["files"] in [source["files"] for source in claimed], "a claim compares the same sentences"


def test_productions_and_trees_read_parses(project):
    systems = ("sa_nmt_shared", "sa_nmt_hard")
    own = {path for path in inputs(project, "tran2018_table_4") if path.endswith("/gold/gold_demo")}
    assert own == {*parses(*systems), *parses(*systems, dataset="demo_de2en")}
    assert set(inputs(project, "tran2018_figure_5")) == {*TREEBANK, *parses(*systems, seeds=(1,))}
    assert set(inputs(project, "mine_trees")) == {*TREEBANK, *parses("depparse_l1", seeds=(1,))}
    assert cell(project, "mine_trees", "nmt", "wmt17dev15_en2de/gold_ud_english/trees").reason == "nmt does not parse"


def test_gates_are_measured_of_all_seeds_of_systems_with_a_gate(project):
    files = [f"{RUN}/sa_nmt_shared/seed{seed}/gates/test.parquet" for seed in (1, 2)]
    for table in ("mine_gates", "tran2018_figure_6", "tran2018_gate_argmax_upos"):
        assert inputs(project, table) == files
    assert cell(project, "mine_gates", "nmt", "wmt17dev15_en2de/test_wmt16/shown").reason == (
        "its system has no gate, or test is no test"
    )


def test_attention_of_the_first_seed_with_the_trees_of_parsers(project):
    pairs, trees = (
        "results/demo_en2de/corpus/test.parquet",
        "results/demo_en2de/annotation/existing/test.source.parquet",
    )
    assert inputs(project, "mine_attention") == [
        f"{RUN}/nmt/seed1/attention/test.parquet", pairs, f"{RUN}/sa_nmt_shared/seed1/attention/test.parquet", trees,
        f"{RUN}/transformer_base/seed1/attention/test.parquet",
    ]  # fmt: skip
    (own,) = planned_table(project, "pham2018_figure_6_3").cells
    assert (own.source["encoder_heads"], own.source["files"]["trees"]) == (True, trees)
    assert [name.split(".")[0] for name in own.source["claimed"]] == ["4"]
    files = [f"{RUN}/transformer_base/seed{seed}/attention/test.parquet" for seed in (1, 2)]
    assert inputs(project, "mine_sharpness") == files


def test_curves_are_drawn_from_training_logs(project):
    systems = ("transformer_base", "tag_attention_no_decay", "tag_attention")
    assert inputs(project, "aycock2021_figure_5_1") == [
        f"results/smoke/demo_de2en/{system}/seed{seed}/training.jsonl" for system in systems for seed in (1, 2)
    ]
    assert {own.source["beam"] for own in planned_table(project, "aycock2021_figure_5_1").cells} == {1}


def test_parts_of_tests_read_counts_and_what_divides_the_test(make_project):
    project = make_project({"seeds": [1]})
    assert sorted(inputs(project, "bugliarello2020_figure_3")) == [
        "results/demo_de2en/corpus/test.parquet",
        "results/demo_en2de/corpus/test.parquet",
        *(
            f"results/smoke/{dataset}/{system}/seed1/counts"
            for dataset in ("demo_de2en", "demo_en2de")
            for system in ("pascal", "transformer_base", "transformer_base_pascal_rate")
        ),
    ]
    supertags = "results/demo_de2en/annotation/existing/test.target.parquet"
    assert inputs(project, "aycock2021_table_5_8") == [supertags]
    systems = ("tag_attention", "transformer_base", "tag_attention_random", "tag_attention_without_loss")
    counts = {f"results/smoke/demo_de2en/{system}/seed1/counts" for system in systems}
    assert set(inputs(project, "aycock2021_figure_5_2")) == {supertags, *counts}


def test_parts_have_no_gain_over_a_baseline_that_is_not_measured(make_project):
    rows = ["transformer_base", "depparse_l1"]
    own = {"kind": "lengths", "rows": rows, "baselines": rows[:1], "columns": ["demo_en2de/test/uas"]}
    project = make_project({"seeds": [1]}, files={"tables/mine": {"tables": {"t": own}}})
    assert set(cell(project, "mine_t", "depparse_l1", "demo_en2de/test/uas").source["files"]) == {"counts", "pairs"}


def test_examples_read_one_seed_with_pairs_and_supertags(make_project):
    project = make_project({"seeds": [3, 2]})
    assert set(inputs(project, "aycock2021_table_5_9")) == {
        *(
            f"results/smoke/demo_de2en/{system}/seed2/hypotheses/test"
            for system in ("transformer_base", "tag_attention")
        ),
        "results/demo_de2en/corpus/test.parquet",
        "results/demo_de2en/annotation/existing/test.target.parquet",
    }
    sentence = planned_table(project, "bugliarello2020_table_6").sentence
    assert sentence == "In a cooling experiment , only a tendency agreed"
