"""A user's mistakes give a message without internals of the workflow, and only affect targets that need the file.

What a user sees of such a message is tested in test_first_run.py.
"""

import pytest

from nmtcore.errors import UserError
from nmtcore.job import user_config_path

MEANT = {
    "anotate": "annotate",
    "result/smoke/demo_en2de/transformer_base.bleu": "results/smoke/demo_en2de/transformer_base.bleu",
    "demo_en2de/transformer_bas.bleu": "results/demo_en2de/transformer_base.bleu",
    "results/demo_en2de/corpus/train.parqet": "results/demo_en2de/corpus/train.parquet",
    "results/demo_en2de/corpus/raw/dev.jsn": "results/demo_en2de/corpus/raw/dev.json",
    "results/demo_en2de/annotation/existing/train.sorce.parquet": (
        "results/demo_en2de/annotation/existing/train.source.parquet"
    ),
    "results/demo_en2de/transformer_base/seed1/modle": "results/demo_en2de/transformer_base/seed1/model",
    "results/demo_en2de/depparse_l1/seed1/hypothesis": "results/demo_en2de/depparse_l1/seed1/hypotheses",
    "results/demo_en2de/sa_nmt_shared/seed1/gate/test.parquet": (
        "results/demo_en2de/sa_nmt_shared/seed1/gates/test.parquet"
    ),
    "results/smoke/demo_en2de/depparse_l1.blue": "results/smoke/demo_en2de/depparse_l1.bleu",
    "results/smok/demo_en2de/depparse_l1.bleu": "results/smoke/demo_en2de/depparse_l1.bleu",
    "results/paper/demo_en2de/depparse_l1.bleu": "results/demo_en2de/depparse_l1.bleu",
    "results/smoke/demo_en2de/corpus/test.parquet": "results/demo_en2de/corpus/test.parquet",
    "results/table/system.md": "results/tables/systems.md",
    "results/smoke/tables/mine/data.md": "results/tables/mine/data.md, with --config scale=smoke",
    "results/smoke/reprot.html": "results/report.html",
    "results/run.parquet": "results/runs.parquet",
    "downloads/multi30k/vaal.cs": "multi30k/val.cs, ",
}
"""Targets with a slip, and what is suggested in their place."""


@pytest.mark.parametrize("target", MEANT)
def test_the_nearest_target_is_suggested(planner, target):
    refusal = planner.refusal(target)
    assert refusal.startswith(f"Error: {target}: no ")
    assert f"Did you mean {MEANT[target]}" in refusal
    assert "\n" not in refusal


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("train_model", "makes many files: ask for one of them, {root}/{dataset}/{system}/seed"),
        ("nothing_like_it", "no rule makes this. Ask for one of all, annotate, "),
        ("results/*/depparse_l0.bleu", "a target is one file. For many, ask for a rule: snakemake all --config 'sys"),
        ("results/demo_en2de/smoke/nmt.bleu", "the scale comes first. Did you mean results/smoke/demo_en2de/nmt.bleu?"),
        (
            "results/smoke/demo_en2de/nmt/seed2/hypotheses/test.txt",
            "ask for results/smoke/demo_en2de/nmt/seed2/hypotheses, which has all such files. Tables and summaries "
            "have the `seeds` of config.yaml (1).",
        ),
        ("results/demo_en2de/corpus/trian.parquet", "unknown split 'trian'. Did you mean train?"),
        ("results/demo_en2de/corpus/raw/tset.parquet", "unknown split 'tset'. Did you mean test?"),
        ("results/demo_en2de/annotation/existing/trian.source.parquet", "unknown split 'trian'. Did you mean train?"),
        ("results/demo_en2de/annotation/exist/test.source.parquet", "unknown annotator 'exist'. Did you mean existing"),
        ("results/demo_en2d/depparse_l4.bleu", "unknown data set 'demo_en2d'. Did you mean demo_en2de"),
        ("results/demo_en2de/depparse_l9.bleu", "unknown system 'depparse_l9'. Did you mean depparse_l"),
        ("results/xyzzyx/nmt.bleu", "unknown data set 'xyzzyx'. Valid are cs2en, cs2en_bpe, czeng_sample_cs2en and "),
        ("results/smoke/demo_en2de/transformer_base.uas", "transformer_base predicts no trees"),
        ("results/demo_en2de/pascal.ribes", "demo_en2de is not scored by ribes: ask for pascal.bleu, or add ribes to"),
        ("results/smoke/demo_en2de/transformer_base/seed1/gold", "transformer_base predicts no trees"),
        ("results/czeng_sample_cs2en/depparse_l1/seed1/gold.json", "has no gold treebank"),
        ("results/czeng_sample_cs2en/depparse_l1.gold.uas", "has no gold treebank (a split gold_NAME) to compare dep"),
        (
            "results/multi30k_cs2en/diagonalparse_l0.gold.uas",
            "diagonalparse_l0 predicts chains of previous words, which are not compared with gold trees. Ask for its "
            ".uas, which compares it with the chain of previous words.",
        ),
        (
            "results/czeng_sample_cs2en/features/words_100/train.target.existing.parquet",
            "the annotator existing is not used on the target side: name it in the data set's `syntax`.",
        ),
        ("results/smoke/demo_en2de/sa_nmt_1set/seed1/gates/test.parquet", "has no gate in the decoder; ask for the ga"),
        ("results/demo_en2de/sa_nmt_shared/seed1/gates/tset.parquet", "unknown test split 'tset'. Did you mean test?"),
        ("results/smoke/demo_en2de/nmt/seed1/heads/gold_demo.json", "nmt is recurrent: its encoder has no attention "),
        ("results/demo_de2en/interleaved/seed1/contrast/contrast_demo.parquet", "generates tags among the words"),
        ("results/czeng_sample_cs2en/nmt/seed1/contrast/contrast_a.parquet", "has no split of contrastive pairs"),
        ("results/demo_en2de/corpus/test.contrasts.parquet", "unknown split of contrastive pairs 'test'"),
        (
            "results/multi30k_cs2en/transformer_base/seed1/heads/gold_pud_english.json",
            "unknown gold treebank of the source side 'gold_pud_english'. Did you mean gold_pud_czech?",
        ),
        (
            "results/smoke/demo_en2de/tag_attention.bleu",
            "With one that gives ccg for 'de', add `syntax: {target: {ccg: NAME}}` to config/datasets/demo_en2de.yaml; "
            "without one, use another data set.",
        ),
    ],
)
def test_impossible_targets(planner, target, sentence):
    refusal = planner.refusal(target)
    assert refusal.startswith("Error: ")
    assert sentence in refusal
    assert "\n" not in refusal


@pytest.mark.parametrize(
    ("target", "settings", "sentence"),
    [
        (
            "results/tables/parsers.md",
            {"datasets": ["demo_de2en"]},
            "None of demo_de2en has both a treebank and a pars",
        ),
        (
            "train",
            {"systems": ["depparse_l0", "currey_heafield"], "datasets": ["demo_de2en"]},
            "currey_heafield on demo_de2en at scale paper: needs constituency on the source side, but the data set",
        ),
        (
            "results/tables/gates.md",
            {"systems": ["nmt"]},
            "A table of gates needs `datasets`, and `systems` that have a",
        ),
        (
            "results/tables/heads.md",
            {"systems": ["nmt"]},
            "A table of heads needs `datasets` with a gold treebank of th",
        ),
        (
            "results/tables/contrast.md",
            {"systems": ["interleaved"], "datasets": ["demo_de2en"]},
            "A table of contrastive",
        ),
        (
            "results/figures/constructions.svg",
            {"systems": ["pascal"]},
            "A table of constructions compares a baseline with other systems: name at least two",
        ),
    ],
)
def test_mistakes_found_by_input_functions(planner, target, settings, sentence):
    refusal = planner.refusal(target, **{"datasets": ["demo_en2de"], "scale": "paper", **settings})
    assert refusal.startswith("Error: ")
    assert sentence in refusal


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("config", {"scal": "smoke"}, "config.yaml: unknown key 'scal'. Did you mean scale?"),
        ("config", {"scale": "smokey"}, "config.yaml: unknown scale 'smokey'. Did you mean smoke?"),
        ("config", {"datasets": ["demo_en2d"]}, "datasets: unknown data set 'demo_en2d'. Did you mean demo_en2de"),
        ("config", {"systems": ["transformer_bas"]}, "unknown system 'transformer_bas'. Did you mean transformer_base"),
        ("config", {"seeds": -1}, "config.yaml: seeds[0] must be at least 0, not -1."),
        ("config", {"device": "gpu"}, "config.yaml: device: 'gpu' is not valid. Did you mean cuda?"),
        ("datasets/demo_en2de", {"extends": "demo_de2e"}, "unknown data set 'demo_de2e'. Did you mean demo_de2en"),
    ],
)
def test_a_typing_error_in_the_configuration_gives_one_message(planner, name, values, sentence):
    settings = values if name == "config" else {}
    if not settings:
        planner.write(name, values)
    assert sentence in planner.refusal("results/demo_en2de/transformer_base.bleu", **settings)


@pytest.mark.parametrize("name", ["config.yaml", "config.yml"])
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("datasets: []\nscale: [\n", ", line 3: not valid YAML ("),
        ("- scale: smoke\n", ": expected keys and values, found a list."),
        ("# nothing yet\n", " has no settings: write some, or delete it to use the repository's own file."),
    ],
)
def test_a_broken_config_yaml(tmp_path, monkeypatch, name, text, sentence):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "config" / name
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(SystemExit) as end:
        user_config_path()
    assert str(end.value).startswith(f"Error: config/{name}{sentence}")


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
    finished = empty.run("results/demo_en2de/corpus/test.parquet", settings=settings)
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
    assert "summarise_seeds" in empty.plan(absolute, settings=[f"paths={{results: {tmp_path}/work/../out/}}"]).rules
    (tmp_path / "out/smoke/demo_en2de").mkdir(parents=True)
    (tmp_path / "out" / target).touch()
    for results, written, other in ((f"{tmp_path}/out/", absolute, relative), ("../out", relative, absolute)):
        refused = empty.call("-n", other, settings=[f"paths={{results: {results}}}"])
        assert f"Error: {other}: no rule makes this. Did you mean {written}?\n" in refused.output


@pytest.mark.needs("Snakemake")
def test_a_broken_config_yaml_ends_planning(empty):
    (empty.folder / "config").mkdir()
    (empty.folder / "config/config.yaml").write_text("datasets: []\nscale: [\n")
    refused = empty.call("-n", "data")
    assert refused.code == 1
    assert refused.output.splitlines()[-1].startswith("Error: config/config.yaml, line 3: not valid YAML (")
    assert "Traceback" not in refused.output
