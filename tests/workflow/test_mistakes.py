"""A user's mistakes give a message without internals of the workflow, and only affect targets that need the file.

What a user sees of such a message is tested in test_first_run.py.
"""

import pytest
from workflow.calling import write_little

from nmtcore.errors import UserError

DEMO = "results/demo_en2de"
CZENG = "results/czeng_sample_cs2en"
REFUSED = {
    "anotate": "no rule makes this. Did you mean annotate?",
    "train_model": "makes many files: ask for one of them, {root}/{dataset}/{system}/seed",
    "nothing_like_it": "no rule makes this. Ask for one of all, annotate, ",
    "result/smoke/demo_en2de/transformer_base.bleu": "Did you mean results/smoke/demo_en2de/transformer_base.bleu?",
    "demo_en2de/transformer_bas.bleu": "Did you mean results/demo_en2de/transformer_base.bleu?",
    f"{DEMO}/corpus/train.parqet": f"Did you mean {DEMO}/corpus/train.parquet?",
    f"{DEMO}/annotation/existing/train.sorce.parquet": f"Did you mean {DEMO}/annotation/existing/train.source.parquet?",
    f"{DEMO}/transformer_base/seed1/modle": f"Did you mean {DEMO}/transformer_base/seed1/model?",
    "results/smoke/demo_en2de/depparse_l1.blue": "Did you mean results/smoke/demo_en2de/depparse_l1.bleu?",
    "results/smok/demo_en2de/depparse_l1.bleu": "Did you mean results/smoke/demo_en2de/depparse_l1.bleu?",
    "results/paper/demo_en2de/depparse_l1.bleu": f"Did you mean {DEMO}/depparse_l1.bleu?",
    "results/smoke/demo_en2de/corpus/test.parquet": f"Did you mean {DEMO}/corpus/test.parquet?",
    "results/table/system.md": "Did you mean results/tables/systems.md?",
    "results/smoke/tables/mine/data.md": "Did you mean results/tables/mine/data.md, with --config scale=smoke?",
    f"{DEMO}/smoke/corpus/test.parquet": f"Did you mean {DEMO}/corpus/test.parquet?",
    "downloads/multi30k/vaal.cs": "Did you mean multi30k/val.cs, ",
    "results/*/depparse_l0.bleu": "a target is one file. For many, ask for a rule: snakemake all --config 'systems=",
    f"{DEMO}/smoke/nmt.bleu": "Did you mean results/smoke/demo_en2de/nmt.bleu?",
    f"{DEMO}/nmt/seed2/hypotheses/test/translations.txt": (
        f"ask for {DEMO}/nmt/seed2/hypotheses/test, which has all such files."
    ),
    f"{DEMO}/corpus/trian.parquet": "unknown split 'trian'. Did you mean train?",
    f"{DEMO}/annotation/exist/test.source.parquet": "unknown annotator 'exist'. Did you mean existing",
    "results/demo_en2d/depparse_l4.bleu": "unknown data set 'demo_en2d'. Did you mean demo_en2de",
    "results/xyzzyx/nmt.bleu": "unknown data set 'xyzzyx'. Valid are cs2en, cs2en_bpe, czeng_sample_cs2en and ",
    f"{DEMO}/transformer_base.uas": "transformer_base has no .uas on demo_en2de, only .bleu: a metric must be among",
    f"{DEMO}/pascal.ribes": "pascal has no .ribes on demo_en2de, only .bleu: a metric must be among the `metrics`",
    f"{CZENG}/depparse_l1.gold.uas": "trees of a parser (`syntax: {source: {dependencies: NAME}}`) or of a treebank",
    "results/multi30k_cs2en/diagonalparse_l0.gold.uas": "only .bleu, .uas: a metric must be among the `metrics`",
    f"{CZENG}/features/words_100/train.target.existing.parquet": "existing is not used on the target side: name it in",
    f"{DEMO}/sa_nmt_1set/seed1/gates/test.parquet": "has no gate in the decoder; ask for the gates of",
    f"{DEMO}/sa_nmt_shared/seed1/gates/tset.parquet": "unknown test split 'tset'. Did you mean test?",
    "results/demo_de2en/interleaved/seed1/contrast/contrast_demo.parquet": "generates tags among the words",
    f"{CZENG}/nmt/seed1/contrast/contrast_a.parquet": "has no split of contrastive pairs",
    f"{DEMO}/corpus/test.contrasts.parquet": "unknown split of contrastive pairs 'test'",
    f"{DEMO}/tag_attention.bleu": (
        "With one that gives ccg for 'de', add `syntax: {target: {ccg: NAME}}` to config/datasets/demo_en2de.yaml; "
        "without one, use another data set."
    ),
}
"""Targets that cannot be made, and what is said."""
TABLES = {"datasets": ["demo_en2de"], "scale": "paper"}
REFUSED_WITH_SETTINGS = [
    ("results/tables/parsers.md", TABLES | {"datasets": ["demo_de2en"]}, "None of demo_de2en has both a treebank and"),
    ("results/tables/gates.md", TABLES | {"systems": ["nmt"]}, "A table of gates needs `datasets`, and `systems` that"),
    (
        "results/tables/contrast.md",
        TABLES | {"systems": ["interleaved"], "datasets": ["demo_de2en"]},
        "A table of contrastive",
    ),
    (
        "results/tables/constructions.md",
        TABLES | {"systems": ["pascal"]},
        "A table of constructions needs `systems` together with what they are `compared_with`",
    ),
    (
        "train",
        {"systems": ["depparse_l0", "currey_heafield"], "datasets": ["demo_de2en"]},
        "currey_heafield on demo_de2en at scale paper: needs constituency on the source side, but the data set",
    ),
    ("all", {"scal": "smoke"}, "config.yaml: unknown key 'scal'. Did you mean scale?"),
    ("all", {"scale": "smokey"}, "config.yaml: unknown scale 'smokey'. Did you mean smoke?"),
    ("all", {"datasets": ["demo_en2d"]}, "datasets: unknown data set 'demo_en2d'. Did you mean demo_en2de"),
    ("all", {"systems": ["transformer_bas"]}, "unknown system 'transformer_bas'. Did you mean transformer_base"),
]


@pytest.mark.parametrize(
    ("target", "settings", "sentence"),
    [*((target, {}, sentence) for target, sentence in REFUSED.items()), *REFUSED_WITH_SETTINGS],
)
def test_what_cannot_be_made_is_one_sentence(planner, target, settings, sentence):
    refusal = planner.refusal(target, **settings)
    assert refusal.startswith("Error: ")
    assert sentence in refusal
    assert "\n" not in refusal


def test_a_data_set_that_extends_an_unknown_one(planner):
    planner.write("datasets/mine", {"extends": "demo_de2e"})
    assert "unknown data set 'demo_de2e'. Did you mean demo_de2en" in planner.refusal("results/mine/nmt.bleu")


SUBFOLDERS = ("datasets", "corpora", "models", "recipes", "scales", "systems")
NEEDING = {
    "datasets": ("results/broken/corpus/train.parquet", "downloads/mine/own.gz"),
    "systems": ("results/smoke/demo_en2de/mine.bleu",),
}
"""Targets that may need a broken file."""


@pytest.mark.parametrize("subfolder", SUBFOLDERS)
def test_a_broken_file_only_affects_targets_that_need_it(planner, subfolder):
    planner.write(f"{subfolder}/broken", {})
    with open(f"config/{subfolder}/broken.yaml", "w") as file:
        file.write("description: [\n")
    fault = f"config/{subfolder}/broken.yaml, line 2: not valid YAML"
    assert planner.plan("results/smoke/demo_en2de/depparse_l1.bleu", "downloads/multi30k/val.cs")
    for target in NEEDING.get(subfolder, ()):
        assert fault in planner.refusal(target)
    if subfolder == "datasets":
        settings = {"datasets": ["broken"], "systems": ["transformer_base"]}
        assert planner.plan("results/demo_en2de/corpus/train.parquet", **settings)
        assert fault in planner.refusal("train", **settings)


def test_a_file_that_exists_is_a_target_although_no_rule_makes_it(planner, tmp_path):
    (tmp_path / "mine.txt").touch()
    planner.rules.check_target(planner.project(), "mine.txt")
    with pytest.raises(UserError, match="no rule makes this"):
        planner.rules.check_target(planner.project(), "yours.txt")


@pytest.mark.needs("Snakemake")
def test_a_run_warns_once_of_all_that_is_not_read_or_there(empty):
    """A plan's jobs, which plan again on a cluster, do not warn."""
    write_little(empty)
    own = empty.write("datasets/My-Set", {"extends": "demo_en2de"})
    (own.parent / ".#mine.yaml").write_text("extends: demo_en2de\n")
    for subfolder in SUBFOLDERS:
        path = empty.folder / f"config/{subfolder}/broken_{subfolder}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text("description: [\n")
    (empty.folder / "parsers").mkdir()
    settings = [
        f'mirrors=["/nope","{empty.mirror}","file:///nor","https://a.org/b"]',
        'models=["parsers","parser"]',
        "datasets=[demo_de2en]",
        'systems=["transformer_base", "currey_heafield*"]',
    ]
    finished = empty.run("results/little/corpus/test.parquet", settings=settings)
    lines = finished.output.splitlines()
    assert [line for line in lines if "does not exist" in line] == [
        "mirrors: the folder /nope does not exist.",
        "models: the folder parser does not exist.",
    ]
    (broken, misnamed) = (line for line in lines if line.startswith("Not read: "))
    assert misnamed.startswith("Not read: config/datasets/My-Set.yaml: a name consists of small letters")
    assert "config/systems/broken_systems.yaml, line 2: not valid YAML" in broken, (
        "any file of systems may define the system"
    )
    planned = empty.plan(settings=settings).output
    (left_out,) = {line for line in planned.splitlines() if "left out" in line}
    assert left_out.startswith("demo_de2en has no ")
    assert left_out.endswith(
        "constituency on the source side: currey_heafield_tag_attention, currey_heafield are left out."
    )
    assert "core-hours" not in planned, "there is one run"


@pytest.mark.needs("Snakemake")
def test_results_may_be_outside_the_working_folder(empty, tmp_path):
    """Snakemake compares targets with outputs as they are written; another path to the same file is corrected."""
    target = "smoke/demo_en2de/transformer_base.bleu"
    absolute, relative = f"{tmp_path}/out/{target}", f"../out/{target}"
    assert "summarise_seeds" in empty.plan(absolute, settings=[f"paths={{results: {tmp_path}/inner/../out/}}"]).rules
    (tmp_path / "out/smoke/demo_en2de").mkdir(parents=True)
    (tmp_path / "out" / target).touch()
    for results, written, other in ((f"{tmp_path}/out/", absolute, relative), ("../out", relative, absolute)):
        refused = empty.call("-n", other, settings=[f"paths={{results: {results}}}"])
        assert f"Error: {other}: no rule makes this. Did you mean {written}?\n" in refused.output
