"""The shipped configuration is valid, and errors name the file, the key and the most similar valid keys."""

import json
from itertools import product
from pathlib import Path

import pytest

from nmtcore.config.assembly import MissingAnnotation
from nmtcore.config.components import COMPONENTS
from nmtcore.config.corpora import SIDES, SegmentationSettings
from nmtcore.config.datasets import ANNOTATIONS
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings, run_from_json, run_to_json
from nmtcore.config.stages import FilteringSettings, ReadingSettings
from nmtcore.errors import UserError


def test_every_system_runs_on_every_data_set_with_its_annotations(project: Project):
    """Every run is valid or fails for a missing annotation; a paper's system runs on one of its data sets.

    All data sets with one scale, except rehearsals, which have the same annotations; all scales with one data set.
    """
    datasets = [name for name in project.dataset_files if not name.startswith("rehearsal_")]
    for system, (path, _) in project.system_entries.items():
        ready = [name for name in datasets if runs(project, name, system, "smoke")]
        assert ready, f"no data set has what {system} reads"
        for scale in project.scale_names:
            assert runs(project, ready[0], system, scale)
        assert as_json_and_back(run := project.run(ready[0], system, "smoke", 1)) == run
        if path.stem in project.recipe_files:
            assert path.stem in {project.dataset(name).recipe for name in ready}, system


def test_the_runs_of_every_data_set_can_be_written_as_json(project: Project):
    for name in project.dataset_files:
        assert as_json_and_back(run := project.run(name, "transformer_base", "smoke", 1)) == run


def as_json_and_back(run: RunSettings) -> RunSettings:
    return run_from_json(json.loads(json.dumps(run_to_json(run))), where="test")


def runs(project: Project, dataset: str, system: str, scale: str) -> bool:
    data = project.dataset(dataset)
    lacks = {
        f"no annotator for {annotation} on the {side} side"
        for side, annotation in product(SIDES, ANNOTATIONS)
        if annotation not in data.syntax.get(side, {})
    }
    if not data.source_treebanks("treebank_"):
        lacks.add("no treebank to train on")
    if (data.source, data.target) != ("en", "de"):
        lacks.add(f"no imported model for {data.source} to {data.target}")
    if data.selection and data.selection.copies:
        lacks.add(f"copies of targets as sources, whose parses are no parses of '{data.source}'")
    missing = None
    try:
        run = project.run(dataset, system, scale, 1)
    except MissingAnnotation as error:
        missing = error.missing
    if missing is not None:
        assert missing in lacks
        return False
    if run.base == "transformer" and scale != "smoke":
        smoke = project.run(dataset, system, "smoke", 1).model
        assert (run.model.encoder_layers, run.model.heads) == (smoke.encoder_layers, smoke.heads), (
            "the scale changes no layers that systems name"
        )
    for settings in (*run.components.values(), *run.transforms.values()):
        assert all(name in run.features[side] for side, names in settings.needs.items() for name in names)
    return True


def test_every_component_is_used_by_a_system(project: Project):
    used = {component for name in project.system_entries for component in project.system(name).components}
    assert used == set(COMPONENTS)


def test_published_splits_of_czeng(project: Project):
    data = project.dataset("cs2en")
    packages = [file.name for file in data.corpora["czeng17_packages_0_to_8"].files["pairs"]]
    assert packages == [f"czeng17/data.export-format.{k}.gz" for k in range(9)]
    (dev,), (test,) = data.splits["dev"], data.splits["test"]
    assert (dev.corpus, dev.first, dev.last) == ("czeng17_package_9", 1, 1000)
    assert (test.corpus, test.first, test.last) == ("czeng17_package_9", 1001, 11000)
    assert data.filters == ()
    assert project.run("cs2en", "depparse_l4", "paper", 1).segmentation.name == "words_50000"


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (SegmentationSettings(kind="words", size=50000), "words_50000"),
        (SegmentationSettings(kind="bpe", size=6000, joint=True), "bpe_joint_6000"),
        (SegmentationSettings(kind="bpe", size=32000), "bpe_32000"),
        (SegmentationSettings(kind="bpe", size=16000, joint=True, also="constituency"), "bpe_joint_16000_constituency"),
    ],
)
def test_segmentation_names(settings, name):
    assert settings.name == name
    assert SegmentationSettings.parse(name) == settings
    with pytest.raises(ValueError, match="no segmentation"):
        SegmentationSettings.parse(name + "x")


def of_demo(**values) -> dict:
    """A data set that extends the demo's."""
    return {"extends": "demo_en2de", **values}


def fault(project: Project, dataset: str, system: str, scale: str = "smoke") -> str:
    with pytest.raises(UserError) as error:
        project.run(dataset, system, scale, 1)
    return str(error.value)


def test_components_can_have_all_heads_of_a_layer(own_project):
    own = {"extends": "transformer_base", "components": {"pascal": {"heads": 7}, "depparse": {"layer": 0}}}
    project = own_project({"systems/mine": {"mine": own}})
    assert len(project.run("demo_en2de", "mine", "smoke", 1).components) == 2


def test_a_data_set_must_have_what_a_system_reads(own_project):
    bare = of_demo(splits={"treebank_demo": None})
    project = own_project({"datasets/bare": bare, "datasets/unparsed": of_demo(syntax=None)})
    missing = "needs a treebank on the source side, but the data set names none"
    assert missing in fault(project, "bare", "depparse_gold")
    assert "names no annotator" in fault(project, "unparsed", "depparse_l1")
    assert project.run("unparsed", "diagonalparse_l0", "smoke", 1).features == {}


def test_models_are_searched_in_the_users_folders_and_the_downloads(own_project):
    paths = {"downloads": "kept", "manual": "by_hand"}
    settings = own_project({}, models=["mine", "/others"], paths=paths).settings
    assert settings.own_model_folders == (Path("mine"), Path("/others"), Path("by_hand/models"))
    assert settings.model_folders == (*settings.own_model_folders, Path("kept/models"))


def test_what_trees_are_compared_with(own_project):
    own = """
        like_induced: {extends: depparse_l1, trees: induced}
        mended: {extends: like_induced, trees: null, components: {depparse: null}}
    """
    project = own_project({"systems/mine": own})
    trees = {"depparse_l1": "supervised", "like_induced": "induced", "mended": None, "diagonalparse_l5": "chain"}
    trees |= {"sisa_layer_2": "supervised", "depparse_gold": "supervised", "nmt": None, "pascal": None}
    trees |= {"sa_nmt_hard": "induced", "fa_nmt_separate": "induced"}
    assert {name: project.run("demo_en2de", name, "smoke", 1).tree_comparison for name in trees} == trees


def test_what_systems_are_compared_with(own_project):
    """What the nearest entry names, or the first system that one extends; none with itself."""
    own = """
        mine: {extends: relative_tree_traversal}
        other: {extends: mine, compared_with: mine}
        llm: {external: {provenance: one, translations: {demo_en2de: {test: a}}}}
        named: {compared_with: nmt, external: {provenance: one, translations: {demo_en2de: {test: a}}}}
        wrong: {extends: pascal, compared_with: pascall}
    """
    project = own_project({"systems/mine": own})
    compared = {"depparse_l1_light": "transformer_base", "relative_tree_traversal": "transformer_relative"}
    compared |= {"transformer_base": None, "transformer_relative": "transformer_base", "fa_nmt_shared": "nmt"}
    compared |= {"mine": "transformer_relative", "other": "mine", "llm": None, "named": "nmt"}
    assert {name: project.compared_with(name) for name in compared} == compared
    with pytest.raises(UserError, match=r"mine\.yaml:\d: wrong: compared_with: unknown system 'pascall'. Did you"):
        project.compared_with("wrong")


SHARED = """
format: plain
files:
  de: {name: pair/x.de, url: "https://example.org/x.tgz", member: x.de}
  en: {name: pair/x.en, url: "https://example.org/x.tgz", member: x.en}
"""


def test_a_shared_corpus_serves_both_directions(own_project):
    for source, target in ("en", "de"), ("de", "en"):
        child = of_demo(source=source, target=target, splits={"train": ["train", "pair_de_en"]})
        data = own_project({"corpora/pair_de_en": SHARED, "datasets/child": child}).dataset("child")
        assert [part.corpus for part in data.splits["train"]] == ["train", "pair_de_en"]
        assert data.corpora["pair_de_en"].files["source"][0].member == f"x.{source}"
        assert data.sides("train") == ("source", "target")


def test_a_treebank_has_one_side_and_is_not_translated(own_project):
    gold = {"format": "conllu", "files": {"source": {"name": "x.conllu", "url": "https://example.org/x"}}}
    other = {"format": "conllu", "files": {"target": {"name": "y.conllu", "url": "https://example.org/y"}}}
    splits = {"gold_bank": "bank", "gold_other": "other", "treebank_other": "other"}
    with_gold = of_demo(corpora={"bank": gold, "other": other}, splits=splits)
    data = own_project({"datasets/with_gold": with_gold}).dataset("with_gold")
    assert data.treebanks == ("gold_demo", "treebank_demo", "gold_bank", "gold_other", "treebank_other")
    assert data.source_treebanks("gold_") == ("gold_demo", "gold_bank")
    assert data.source_treebanks("treebank_") == ("treebank_demo",)
    assert data.sides("gold_bank") == ("source",)
    assert data.tests == ("test", "dev")


def test_annotations_of_treebanks_are_their_own(project: Project):
    data = project.dataset("multi30k_en2de")
    assert data.gold_annotator == "existing"
    for split in ("gold_pud_english", "treebank_ewt"):
        assert data.annotations_by("existing", "source", split) == ("dependencies",)
        assert data.annotations_by("stanza_en", "source", split) == data.annotations_by("stanza_en", "source")
    assert data.annotations_by("existing", "source") == data.annotations_by("existing", "source", "dev") == ()
    for split in ("gold_demo", "treebank_demo"):
        annotations = project.dataset("demo_en2de").annotations_by("existing", "source", split)
        assert annotations == ("ccg", "dependencies", "tags", "constituency")


def test_systems_trained_on_treebanks(project: Project):
    """They start from a model with the same components, and also read gold trees."""
    for dataset, bank in (("cs2en", "pdt"), ("cs2en_bpe", "pdt"), ("de2cs", "ud_german"), ("multi30k_en2de", "ewt")):
        both, alone = (project.run(dataset, f"depparse_gold{end}", "paper", 1) for end in ("", "_only"))
        start = project.run(dataset, "depparse_l1", "paper", 1)
        assert both.start_from == alone.start_from == "depparse_l1"
        assert both.components == alone.components == start.components
        split = f"treebank_{bank}"
        assert both.treebanks == alone.treebanks == (split,)
        assert (both.training_splits, alone.training_splits) == (("train", "dev", split), ("dev", split))
        assert start.split_features("train") == both.split_features("dev") == start.features
        assert both.training.max_updates < start.training.max_updates
        assert both.training.schedule.peak < start.training.schedule.peak
        assert both.gold == start.gold != ()
        assert (start.treebank, start.treebanks) == (None, ())
    for scale in project.scale_names:
        run, start = (project.run("demo_en2de", name, scale, 1) for name in ("depparse_gold", "depparse_l1"))
        assert run.training.max_updates < start.training.max_updates
        assert run.training.schedule.peak <= start.training.schedule.peak
        assert run.training.validation.every <= run.training.max_updates
        assert run.sentences.of("treebank_demo") == run.sentences.train
    assert project.run("multi30k_en2de", "diagonalparse_l0", "paper", 1).gold == ()
    assert project.run("multi30k_en2de", "transformer_base", "paper", 1).gold == ()


def test_a_system_may_start_from_a_system_with_another_dropout(own_project):
    names = ("dropout", "embedding_dropout", "attention_dropout", "activation_dropout")
    entry = {"extends": "depparse_l1", "start_from": "depparse_l1", "model": dict.fromkeys(names, 0.4)}
    model = own_project({"systems/mine": {"mine": entry}}).run("demo_en2de", "mine", "paper", 1).model
    assert {getattr(model, name) for name in names} == {0.4}


NO_FIT = "has other weights or vocabularies, which do not fit"
STARTS = [
    ("depparse_l1", "depparse_l2x", "Did you mean depparse_l2, "),
    ("depparse_l1", "mine", "mine starts from mine: this is circular"),
    ("transformer_base", "post", f'post {NO_FIT} (model.norm: "post" -> "pre").'),
    ("depparse_l1", "demo_en2d/depparse_l1", "unknown data set 'demo_en2d'. Did you"),
    ("depparse_l1", "smoke/near/depparse_l1", "unknown data set 'smoke/near'."),
    ("depparse_l1", "demo_en2de/depparse_1", "unknown system 'depparse_1'. Did you"),
    ("depparse_l1", "demo_en2de/mine", "mine starts from mine starts from mine"),
    (
        "depparse_l1",
        "far/depparse_l1",
        "the segmentation of far, so its vocabularies do not fit: set `segment",
    ),
    ("depparse_l1", "itself", f'itself {NO_FIT} (components.depparse: "depparse, neutral at first" -> "depparse").'),
    ("depparse_l1", "tiny/depparse_l1", f"tiny/depparse_l1 {NO_FIT} (segmentation: "),
    ("base_specdep", "demo_en2de/base_specdep", "reads labels, of which each data set has its own, so its weights do"),
    ("base_specpos", "demo_en2de/base_specpos", "reads labels, of which each"),
]
"""What a system extends, what it starts from, and what is said."""


@pytest.mark.parametrize(("extends", "start_from", "words"), STARTS)
def test_a_run_starts_from_one_of_any_data_set_if_its_weights_fit(own_project, extends, start_from, words):
    """With the segmentation of the other: `near` has that of the demo."""
    good = {"extends": "depparse_l1", "start_from": "demo_en2de/depparse_l1", "training": {"max_updates": 9}}
    post = {"extends": "transformer_base", "model": {"norm": "post"}}
    itself = {"extends": "depparse_l1", "components": {"depparse": {"root": "itself"}}}
    added = {"factors": {"columns": {"upos": 3}, "combine": "add"}}
    labels = {"start_from": "demo_en2de/transformer_base", "components": added}
    others = {"good": good, "post": post, "itself": itself, "labels": labels}
    files = {
        "datasets/near": of_demo(segmentation_from="demo_en2de"),
        "datasets/far": of_demo(),
        "datasets/tiny": of_demo(segmentation={"size": 100}, segmentation_from="demo_en2de"),
        "systems/own": {**others, "mine": {"extends": extends, "start_from": start_from}},
    }
    project = own_project(files)
    for dataset in ("near", "demo_en2de"):
        assert project.run(dataset, "good", "smoke", 2).start == ("demo_en2de", "depparse_l1")
    assert project.run("near", "labels", "smoke", 2).start == ("demo_en2de", "transformer_base"), "it has no labels"
    assert words in fault(project, "near", "mine", "paper")


def test_no_split_depends_on_another_split(own_project):
    gold = {"format": "conllu", "files": {"source": {"name": "x.conllu", "url": "https://example.org/x"}}}
    with_gold = of_demo(corpora={"bank": gold}, splits={"gold_bank": "bank"})
    project = own_project(
        {"datasets/with_gold": with_gold, "datasets/other": of_demo(filters=["empty"], main_test="dev")}
    )
    demo = project.dataset("demo_en2de")
    for name in ("with_gold", "other"):
        for split in ("train", "dev", "test"):
            assert ReadingSettings.of(project.dataset(name), split) == ReadingSettings.of(demo, split)
    assert ReadingSettings.of(demo, "dev") != ReadingSettings.of(demo, "test")
    other = project.dataset("other")
    assert FilteringSettings.of(other, "train") != FilteringSettings.of(demo, "train")
    assert FilteringSettings.of(other, "dev") == FilteringSettings.of(demo, "dev")


def test_a_child_can_drop_parts_of_its_parent(own_project):
    own = {"format": "plain", "files": {"source": "a", "target": "b"}}
    child = """
        {extends: parent, corpora: {own: null}, splits: {test: null}, main_test: dev,
         annotators: {other: null}, syntax: {source: {dependencies: null}, target: null}}
    """
    values = of_demo(corpora={"own": own}, annotators={"other": {"tool": "existing"}})
    project = own_project({"datasets/parent": values, "datasets/less": child})
    parent, less = (project.dataset(name) for name in ("parent", "less"))
    assert "own" in parent.corpora
    assert "dependencies" in parent.syntax["source"]
    assert set(less.annotators) == set(parent.annotators) - {"other"}
    assert set(less.syntax) == {"source"}
    assert "dependencies" not in less.syntax["source"]
    assert "own" not in less.corpora
    assert list(less.splits) == ["train", "dev", "gold_demo", "treebank_demo", "contrast_demo"]


def test_patterns_name_data_sets_and_systems(own_project):
    files = {f"datasets/{name}": of_demo() for name in ("mine_a", "mine_b", "other")}
    settings = own_project(files, datasets=["mine_*", "other", "mine_a"], systems=["depparse_l?"]).settings
    assert settings.datasets == ("mine_a", "mine_b", "other")
    assert settings.systems == tuple(f"depparse_l{layer}" for layer in range(6))
