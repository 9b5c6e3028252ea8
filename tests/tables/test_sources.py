"""What tables are made from: the files of each measure and kind, by plans of tables of papers and of one's own."""

import pytest
from workflow.calling import little

from nmtcore.tables.measures import MEASURES
from nmtcore.tables.plan import planned_table, table_inputs

DEMO, RUN = "results/demo_en2de", "results/smoke/demo_en2de"
TREEBANK = [f"{DEMO}/corpus/gold_demo.parquet", f"{DEMO}/annotation/existing/gold_demo.source.parquet"]
PAIRS, TREES = f"{DEMO}/corpus/test.parquet", f"{DEMO}/annotation/existing/test.source.parquet"
TAGS = "results/demo_de2en/annotation/existing/test.target.parquet"
INDUCING = ("fa_nmt_separate", "fa_nmt_shared", "sa_nmt_separate", "sa_nmt_shared", "sa_nmt_hard")


@pytest.fixture
def project(make_project):
    shown, trees = ["wmt17dev15_en2de/test_wmt16/shown"], ["wmt17dev15_en2de/gold_ud_english/trees"]
    rows = ["nmt", "sa_nmt_shared", "transformer_base"]
    tables = {name: {"kind": name, "rows": rows, "columns": shown} for name in ("attention", "sharpness")}
    tables["settings"] = {"kind": "scores", "rows": rows, "columns": ["nc11_de2en/test/heads"]}
    layers = {"dataset": "cs2en", "split": "test", "column": "item/metric"}
    tables["layers"] = {"kind": "scores", "rows": rows, **layers, "columns": ["layer 0/sharpness", "layer 6/sharpness"]}
    bank = {"dataset": "wmt17dev15_en2de", "split": "gold_ud_english", "column": "item/metric"}
    tables["agreement"] = {"kind": "scores", "rows": rows, **bank, "columns": ["nmt/agreement", "sa_nmt/agreement"]}
    tables["gates"] = {"kind": "scores", "rows": rows, "columns": ["demo_en2de/test/highest"]}
    tables["trees"] = {"kind": "trees", "rows": ["nmt", "depparse_l1"], "columns": trees}
    parser = {"rows": ["transformer_base", "depparse_l1"], "baselines": ["transformer_base"]}
    tables["uas"] = parser | {"kind": "lengths", "columns": ["demo_en2de/test/uas"]}
    return make_project(files={"tables/mine": {"tables": tables}})


def cell(project, table, row, column=""):
    return planned_table(project, table).cell(row, column)


def of_runs(systems, file, *, seeds=(1, 2), dataset="demo_en2de"):
    """The files of runs."""
    return [f"results/smoke/{dataset}/{system}/seed{seed}/{file}" for system in systems for seed in seeds]


def by_seed(system, file):
    """A file of each seed of a system."""
    return dict(zip("12", of_runs([system], file), strict=True))


def test_measures_that_stand_beside_others_exist():
    assert {own for measure in MEASURES.values() for own in measure.also} <= MEASURES.keys()


SIZES, VOCABULARIES, FACTS = "pham2018_dataset_sizes", "tran2018_table_1", "bugliarello2020_facts"
BPE = {"segmentation": f"{DEMO}/segmentation/bpe_joint_2000"}


@pytest.mark.parametrize(
    ("table", "row", "column", "source"),
    [
        (SIZES, "cs2en", "train/pairs", {"files": {"report": f"{DEMO}/corpus/train.json"}, "keys": ["kept"]}),
        (
            SIZES, "cs2en", "train/target_tokens",
            {"files": {"pairs": f"{DEMO}/corpus/train.parquet", "selection": None}, "side": "target"},
        ),
        (VOCABULARIES, "wmt17_en2ru", "train/english_subwords", {"files": BPE, "side": "source"}),
        (VOCABULARIES, "wmt17_en2ru", "train/other_subwords", {"files": BPE, "side": "target"}),
        (
            VOCABULARIES, "wmt17_en2ru", "test_wmt16/pairs",
            "neither the paper's data set nor demo_en2de has the split test_wmt16",
        ),
        (  # its main test stands in
            VOCABULARIES, "wmt17dev15_en2de", "test_wmt16/pairs",
            {"files": {"report": f"{DEMO}/corpus/test.json"}, "keys": ["kept"]},
        ),
        (
            FACTS, "wmt16_en2de", "english_words_of_at_most_7_subwords",
            {"files": {"tokens": f"{DEMO}/features/bpe_joint_2000/train.source.parquet"}, "most": 7},
        ),
        (
            FACTS, "wat_en2ja", "dropped_by_langdetect",
            "demo_en2de is not filtered by langdetect, so nobody counted the pairs that it would drop",
        ),
        ("bugliarello2020_released_training", "sisa", "nc11_de2en/beta2", {"value": 0.98}),
        ("mine_settings", "nmt", "nc11_de2en/test/heads", "nmt scales no heads by parents"),
        (
            "pham2018_sharpness", "depparse_l4", "layer 4/sharpness",
            {"files": {"attention": by_seed("depparse_l4", "attention/test.parquet")}, "split": "test", "layer": 4},
        ),
        ("mine_layers", "nmt", "layer 0/sharpness", "its encoder has no attention heads"),
        (
            "mine_layers", "transformer_base", "layer 6/sharpness",
            "layer 6 is no layer of its encoder (layer 0 to layer 5)",
        ),
        (
            "tran2018_similar_trees", "sa_nmt_shared", "wmt17dev15_en2de/gold_ud_english/sa_nmt_hard/agreement",
            {"files": {"pairs": TREEBANK[0], "trees": TREEBANK[1],
                       "gold_parses": by_seed("sa_nmt_shared", "gold/gold_demo"),
                       "other_parses": by_seed("sa_nmt_hard", "gold/gold_demo")},
             "split": "gold_demo", "sentences": 100, "other": ""},
        ),
        ("mine_agreement", "sa_nmt_shared", "nmt/agreement", "nmt does not parse"),
        ("mine_agreement", "sa_nmt_shared", "sa_nmt/agreement", "sa_nmt has no trees of the seeds of sa_nmt_shared"),
        ("mine_trees", "nmt", "wmt17dev15_en2de/gold_ud_english/trees", "nmt does not parse"),
        ("mine_gates", "nmt", "demo_en2de/test/highest", "its system has no gate, or test is no test"),
        (
            "tran2018_table_3", "left", "wmt17_en2ru/gold_ud_english/undirected",
            {"files": dict(zip(("pairs", "trees"), TREEBANK, strict=True)), "split": "gold_demo", "sentences": 100,
             "column": "undirected_gold_edges", "baseline": "left"},
        ),
    ],
)  # fmt: skip
def test_what_a_cell_is_measured_from_or_why_nothing_is(project, table, row, column, source):
    planned = cell(project, table, row, column)
    assert (planned.source or planned.reason) == source


@pytest.mark.parametrize(
    ("table", "paths"),
    [
        (
            SIZES,
            [f"results/{dataset}/corpus/{file}" for dataset in ("demo_en2de", "demo_de2en")
             for file in ("train.json", "train.parquet", "dev.json", "test.json")],
        ),
        ("bugliarello2020_table_2", []),
        (
            "tran2018_table_3",
            [*TREEBANK, *(path.replace("en2de", "de2en") for path in TREEBANK), *of_runs(INDUCING, "gold_counts"),
             *of_runs(INDUCING, "gold_counts", dataset="demo_de2en")],
        ),
        ("tran2018_figure_5", [*TREEBANK, *of_runs(["sa_nmt_shared", "sa_nmt_hard"], "gold/gold_demo", seeds=[1])]),
        ("mine_trees", [*TREEBANK, *of_runs(["depparse_l1"], "gold/gold_demo", seeds=[1])]),
        ("mine_gates", of_runs(["sa_nmt_shared"], "gates/test.parquet")),
        ("tran2018_gate_argmax_upos", of_runs(["sa_nmt_shared"], "gates/test.parquet")),
        (
            "mine_attention",
            [PAIRS, TREES, *of_runs(["nmt", "sa_nmt_shared", "transformer_base"], "attention/test.parquet", seeds=[1])],
        ),
        ("mine_sharpness", of_runs(["transformer_base"], "attention/test.parquet")),
        (
            "aycock2021_figure_5_1",
            of_runs(["transformer_base", "tag_attention_no_decay", "tag_attention"], "training.jsonl",
                    dataset="demo_de2en"),
        ),
        (
            "bugliarello2020_figure_3",
            [path for dataset in ("demo_en2de", "demo_de2en")
             for path in (f"results/{dataset}/corpus/test.parquet",
                          *of_runs(["pascal", "transformer_base", "transformer_base_pascal_rate"], "counts",
                                   dataset=dataset))],
        ),
        ("mine_uas", [PAIRS, *of_runs(["depparse_l1"], "counts")]),  # the baseline has no UAS
        ("aycock2021_table_5_8", [TAGS]),
        (
            "aycock2021_figure_5_2",
            [TAGS, *of_runs(["tag_attention", "transformer_base", "tag_attention_random", "tag_attention_without_loss"],
                            "counts", dataset="demo_de2en")],
        ),
        (
            "aycock2021_table_5_9",
            [TAGS, "results/demo_de2en/corpus/test.parquet",
             *of_runs(["transformer_base", "tag_attention"], "hypotheses/test", seeds=[1], dataset="demo_de2en")],
        ),
    ],
)  # fmt: skip
def test_a_table_reads_these_files(project, table, paths):
    inputs = table_inputs(project, table=table)
    assert sorted(inputs) == sorted(paths)


def test_selected_and_copied_pairs_of_the_papers_own_data_set(make_project):
    project = make_project({"scale": "paper"})
    assert cell(project, VOCABULARIES, "wmt17dev15_en2de", "test/pairs").reason == "wmt17dev15_en2de has no split test"
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


def test_times_are_read_from_the_logs_of_the_system_and_of_the_baseline(project):
    source = cell(project, "pham2018_figure_6_4", "depparse_l5", "relative_time").source
    logs = {name: {seed: f"{RUN}/{name}/seed{seed}/training.jsonl" for seed in "12"}
            for name in ("depparse_l5", "transformer_base")}  # fmt: skip
    assert source == {"files": {"history": logs["depparse_l5"], "baseline": logs["transformer_base"]}}
    assert cell(project, "pham2018_figure_6_4", "depparse", "relative_time").reason == ""


def test_a_stand_in_of_ones_own_has_a_report_on_what_langdetect_drops(make_project):
    files = {"stand_ins/mine": {"description": "Mine", "datasets": {"wat_en2ja": "filtered"}}}
    project = make_project({"stand_ins": "mine"}, files, filtered=little(source="en", filters=["langdetect"]))
    assert cell(project, FACTS, "wat_en2ja", "dropped_by_langdetect").source == {
        "files": {"report": "results/filtered/corpus/train.json"}, "keys": ["dropped", "langdetect"],
    }  # fmt: skip
    missing = cell(project, FACTS, "wmt16_en2de", "english_words_unsplit").reason
    assert missing.startswith("no data set stands in for wmt16_en2de")


def test_induced_trees_stand_beside_untrained_and_branching_ones(project):
    table = planned_table(project, "tran2018_table_3")
    rows = [row.name for row in table.rows]
    others = ["left", "right", "Hashimoto and Tsuruoka (2017)", "random"]
    assert (rows[:2], rows[-4:]) == (["fa_nmt_separate", "fa_nmt_separate, untrained"], others)
    left = cell(project, "tran2018_table_3", "left", "wmt17_en2ru/gold_ud_english/undirected").source
    assert left in [own.baseline.source for own in table.claims], "a claim compares the same sentences"
