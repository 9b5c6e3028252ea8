"""The files that tables and figures of the papers are made from."""

from workflow.calling import little

from nmtcore.planning.paper_tables import paper_table_inputs, paper_table_plan


def test_curves_are_drawn_from_training_logs(make_project):
    project = make_project()
    systems = ("transformer_base", "tag_attention_no_decay", "tag_attention")
    logs = {
        f"demo_de2en/{system}": {
            str(seed): f"results/smoke/demo_de2en/{system}/seed{seed}/training.jsonl" for seed in (1, 2)
        }
        for system in systems
    }
    assert paper_table_plan(project, paper_table="aycock2021_figure_5_1")["more"] == {
        "logs": logs,
        "beams": {"demo_de2en": [1]},
    }
    files = [path for by_seed in logs.values() for path in by_seed.values()]
    assert paper_table_inputs(project, paper_table="aycock2021_figure_5_1") == files


def sources(project, paper_table):
    return paper_table_plan(project, paper_table=paper_table)["more"]["sources"]


def test_sizes_are_read_from_reports_and_counted_in_corpora(make_project):
    project = make_project()
    of_cs2en = sources(project, "pham2018_dataset_sizes")["cs2en"]
    assert of_cs2en["train/pairs"] == {"files": {"report": "results/demo_en2de/corpus/train.json"}}
    assert of_cs2en["train/target_tokens"] == {
        "files": {"pairs": "results/demo_en2de/corpus/train.parquet", "selection": None},
        "side": "target",
    }
    assert paper_table_inputs(project, paper_table="pham2018_dataset_sizes") == [
        f"results/{dataset}/corpus/{file}"
        for dataset in ("demo_en2de", "demo_de2en")
        for file in ("train.json", "train.parquet", "dev.json", "test.json")
    ]


def test_vocabularies_of_both_sides_are_found_by_their_language(make_project):
    project = make_project()
    russian = sources(project, "tran2018_table_1")["wmt17_en2ru"]
    folder = "results/demo_en2de/segmentation/bpe_joint_2000"
    assert russian["train/english_subwords"] == {"files": {"segmentation": folder}, "side": "source"}
    assert russian["train/other_subwords"] == {"files": {"segmentation": folder}, "side": "target"}
    assert russian["test/pairs"] == {"files": {"report": "results/demo_en2de/corpus/test.json"}}
    assert "neither the paper's data set nor demo_en2de has the split" in russian["test_wmt16/pairs"]["reason"]


def test_selected_and_copied_pairs_of_the_papers_own_data_set(make_project):
    project = make_project({"scale": "paper"})
    german = sources(project, "tran2018_table_1")["wmt17dev15_en2de"]
    assert german["test/pairs"] == {"reason": "wmt17dev15_en2de has no split test"}
    plain = sources(project, "aycock2021_table_4_1")["wmt17_tr2en"]
    copied = sources(project, "aycock2021_table_4_1")["wmt17_tr2en_mono"]
    report = {"files": {"report": "results/wmt17_tr2en/annotation/selection/train.json"}}
    assert plain["train/pairs"] == report
    assert plain["train/copied_sentences"] == {"reason": "wmt17_tr2en adds no copied sentences"}
    assert copied["train/copied_sentences"]["files"]["report"].startswith("results/wmt17_tr2en_mono/")
    tags = sources(project, "aycock2021_tag_vocabulary")
    labels = {"labels": "results/wmt17_tr2en/annotation/stanza_tr/source.labels.json"}
    assert tags["source.dg_a"]["types"] == {"files": labels, "labels": "dg_a"}
    assert tags["target.ccg"]["types"]["files"]["labels"].endswith("/easyccg/target.labels.json")


def test_settings_are_those_of_the_papers_own_data_sets_and_need_no_file(make_project):
    project = make_project()
    assert paper_table_inputs(project, paper_table="bugliarello2020_table_2") == []
    table = paper_table_plan(project, paper_table="bugliarello2020_table_2")["more"]["settings"]
    assert table["nc11_de2en"] == {
        "learning_rate": 0.0007,
        "beta1": 0.9,
        "beta2": 0.997,
        "heads": 8,
        "parent_ignoring": 0.0,
    }
    released = paper_table_plan(project, paper_table="bugliarello2020_released_training")["more"]["settings"]
    assert (released["transformer_base"]["wat_en2ja/learning_rate"], released["sisa"]["nc11_de2en/beta2"]) == (
        1e-3,
        0.98,
    )


def test_times_are_read_from_training_logs_also_of_the_systems_behind_means(make_project):
    logs = paper_table_plan(make_project(), paper_table="pham2018_figure_6_4")["more"]["logs"]
    for system in ("transformer_base", "depparse_l5", "diagonalparse_l0", "relative_specdep"):
        assert logs[f"demo_en2de/{system}"]["2"] == f"results/smoke/demo_en2de/{system}/seed2/training.jsonl"
    assert "demo_en2de/depparse" not in logs


def test_subwords_are_counted_in_the_english_features(make_project):
    project = make_project()
    assert paper_table_inputs(project, paper_table="bugliarello2020_facts") == [
        "results/demo_en2de/features/bpe_joint_2000/train.source.parquet"
    ]
    facts = paper_table_plan(project, paper_table="bugliarello2020_facts")["more"]["facts"]
    assert [fact.get("most") for fact in facts.values()] == [1, 7, None]
    assert "demo_en2de is not filtered by langdetect" in facts["pairs_that_langdetect_would_drop_from_wat"]["reason"]


def test_what_a_filter_drops_is_read_from_the_report_of_a_data_set_that_has_it(make_project, tmp_path):
    stand_ins = tmp_path / "config/stand_ins/mine.yaml"
    stand_ins.parent.mkdir(parents=True)
    stand_ins.write_text("description: Mine\ndatasets: {wat_en2ja: filtered}\n", encoding="utf-8")
    project = make_project({"stand_ins": "mine"}, filtered=little(source="en", filters=["langdetect"]))
    facts = paper_table_plan(project, paper_table="bugliarello2020_facts")["more"]["facts"]
    assert facts["pairs_that_langdetect_would_drop_from_wat"] == {
        "dataset": "wat_en2ja",
        "ours": "filtered",
        "report": "results/filtered/corpus/train.json",
        "filter": "langdetect",
    }
    assert facts["words_of_at_most_7_subwords"]["reason"].startswith("no data set stands in for wmt16_en2de")
