"""A user's mistakes give a message without internals of the workflow, and only affect targets that need the file.

What a user sees of such a message is tested in test_first_run.py.
"""

import pytest
from workflow.calling import write_little

DEMO = "results/demo_en2de"
CZENG = "results/czeng_sample_cs2en"
REFUSED = {
    "result/smoke/demo_en2de/transformer_base.bleu": "Did you mean results/smoke/demo_en2de/transformer_base.bleu?",
    "demo_en2de/transformer_bas.bleu": "Did you mean results/demo_en2de/transformer_base.bleu?",
    f"{DEMO}/corpus/train.parqet": f"Did you mean {DEMO}/corpus/train.parquet?",
    "results/smoke/demo_en2de/depparse_l1.blue": "Did you mean results/smoke/demo_en2de/depparse_l1.bleu?",
    "results/smoke/tables/mine/data.md": "Did you mean results/tables/mine/data.md, with --config scale=smoke?",
    "results/*/depparse_l0.bleu": "a target is one file. For many, ask for a rule: snakemake all --config 'systems=",
    f"{DEMO}/nmt/seed2/hypotheses/test/translations.txt": (
        f"ask for {DEMO}/nmt/seed2/hypotheses/test, which has all such files."
    ),
    f"{DEMO}/corpus/trian.parquet": "unknown split 'trian'. Did you mean train?",
    "results/demo_en2d/depparse_l4.bleu": "unknown data set 'demo_en2d'. Did you mean demo_en2de",
    f"{DEMO}/transformer_base.uas": "transformer_base has no .uas on demo_en2de, only .bleu: a metric must be among",
    f"{CZENG}/depparse_l1.gold.uas": "trees of a parser (`syntax: {source: {dependencies: NAME}}`) or of a treebank",
    "results/multi30k_cs2en/diagonalparse_l0.gold.uas": "only .bleu, .uas: a metric must be among the `metrics`",
    f"{CZENG}/features/words_100/train.target.existing.parquet": "existing is not used on the target side: name it in",
    f"{DEMO}/sa_nmt_1set/seed1/gates/test.parquet": "has no gate in the decoder; ask for the gates of",
    f"{DEMO}/tag_attention.bleu": (
        "With one that gives ccg for 'de', add `syntax: {target: {ccg: NAME}}` to config/datasets/demo_en2de.yaml; "
        "without one, use another data set."
    ),
}
"""Targets that cannot be made, and what is said."""
TABLES = {"datasets": ["demo_en2de"], "scale": "paper"}
REFUSED_WITH_SETTINGS = [
    ("results/tables/parsers.md", TABLES | {"datasets": ["demo_de2en"]}, "None of demo_de2en has both a treebank and"),
    (
        "train",
        {"systems": ["depparse_l0", "currey_heafield"], "datasets": ["demo_de2en"]},
        "currey_heafield on demo_de2en at scale paper: needs constituency on the source side, but the data set",
    ),
    ("all", {"scal": "smoke"}, "config.yaml: unknown key 'scal'. Did you mean scale?"),
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


SUBFOLDERS = ("datasets", "corpora", "models", "recipes", "scales", "systems")
NEEDING = {
    "datasets": ("results/broken/corpus/train.parquet", "downloads/mine/own.gz"),
    "systems": ("results/smoke/demo_en2de/mine.bleu",),
}
"""Targets that may need a broken file."""


@pytest.mark.parametrize("subfolder", ["datasets", "systems", "scales"])
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
