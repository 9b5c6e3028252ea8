"""The shipped configuration is valid, and errors name the file, the key and the most similar valid keys."""

import json
from itertools import product
from pathlib import Path

import pytest
import yaml

from nmtcore.config.annotators import ANNOTATIONS
from nmtcore.config.components import COMPONENTS
from nmtcore.config.corpora import SIDES
from nmtcore.config.needs import MissingAnnotation
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings, run_from_json, run_to_json
from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.config.stages import FilteringSettings, ReadingSettings
from nmtcore.errors import UserError


@pytest.fixture(scope="module")
def project(root: Path) -> Project:
    return Project.load(root / "config")


def test_every_system_runs_on_every_data_set_with_its_annotations(project: Project):
    """Every run is valid or fails for a missing annotation; a paper's system runs on one of its data sets.

    All data sets with one scale, and all scales with one data set.
    """
    for system, (path, _) in project.system_entries.items():
        ready = [name for name in project.dataset_files if runs(project, name, system, "smoke")]
        assert ready, f"no data set has what {system} reads"
        for scale in project.scale_names:
            assert runs(project, ready[0], system, scale)
            assert as_json_and_back(run := project.run(ready[0], system, scale, 1)) == run
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


@pytest.fixture
def folder(tmp_path: Path, root: Path) -> Path:
    """A small configuration that tests may break."""
    for name in ("recipes/small", "scales/paper", "scales/smoke", "datasets/demo_en2de", "systems/pham2018"):
        path = tmp_path / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text((root / "config" / f"{name}.yaml").read_text())
    (tmp_path / "config.yaml").write_text("scale: smoke\n")
    return tmp_path


def child(folder: Path, name: str, **values) -> None:
    """Write a data set that extends the demo's."""
    (folder / "datasets" / f"{name}.yaml").write_text(yaml.safe_dump({"extends": "demo_en2de", **values}))


def fault(folder: Path, dataset: str, system: str, scale: str = "smoke") -> str:
    with pytest.raises(UserError) as error:
        Project.load(folder).run(dataset, system, scale, 1)
    return str(error.value)


def test_components_can_have_all_heads_of_a_layer(folder: Path):
    own = {"extends": "transformer_base", "components": {"pascal": {"heads": 7}, "depparse": {"layer": 0}}}
    (folder / "systems" / "mine.yaml").write_text(yaml.safe_dump({"mine": own}))
    assert len(Project.load(folder).run("demo_en2de", "mine", "smoke", 1).components) == 2


def test_a_data_set_must_have_what_a_system_reads(folder: Path):
    child(folder, "without_treebank", splits={"treebank_demo": None})
    child(folder, "unparsed", syntax=None)
    missing = "needs a treebank on the source side, but the data set names none"
    assert missing in fault(folder, "without_treebank", "depparse_gold")
    assert "names no annotator" in fault(folder, "unparsed", "depparse_l1")
    assert Project.load(folder).run("unparsed", "diagonalparse_l0", "smoke", 1).features == {}


def test_models_are_searched_in_the_users_folders_and_the_downloads(folder: Path):
    paths = {"downloads": "kept", "manual": "by_hand"}
    settings = Project.load(folder, models=["mine", "/others"], paths=paths).settings
    assert settings.own_model_folders == (Path("mine"), Path("/others"), Path("by_hand/models"))
    assert settings.model_folders == (*settings.own_model_folders, Path("kept/models"))


def test_what_trees_are_compared_with(folder: Path, project: Project):
    (folder / "systems" / "mine.yaml").write_text(
        "default: {extends: transformer_base, components: {depparse: {layer: 1}}}\n"
        "like_induced: {extends: default, trees: induced}\n"
        "mended: {extends: like_induced, trees: null, components: {depparse: null}}\n"
    )
    own, names = Project.load(folder), ("default", "like_induced", "mended", "diagonalparse_l5")
    comparisons = [own.run("demo_en2de", name, "smoke", 1).tree_comparison for name in names]
    assert comparisons == ["supervised", "induced", None, "chain"]
    shipped = ("sisa_layer_2", "depparse_gold", "sa_nmt_hard", "fa_nmt_separate", "nmt", "pascal")
    comparisons = [project.run("demo_en2de", name, "smoke", 1).tree_comparison for name in shipped]
    assert comparisons == ["supervised", "supervised", "induced", "induced", None, None]


SHARED = """
format: plain
files:
  de: {name: pair/x.de, url: "https://example.org/x.tgz", member: x.de}
  en: {name: pair/x.en, url: "https://example.org/x.tgz", member: x.en}
"""


def test_a_shared_corpus_serves_both_directions(folder: Path):
    (folder / "corpora").mkdir(exist_ok=True)
    (folder / "corpora" / "pair_de_en.yaml").write_text(SHARED)
    for source, target in ("en", "de"), ("de", "en"):
        name = f"child_{source}2{target}"
        child(folder, name, source=source, target=target, splits={"train": ["train", "pair_de_en"]})
        data = Project.load(folder).dataset(name)
        assert [part.corpus for part in data.splits["train"]] == ["train", "pair_de_en"]
        assert data.corpora["pair_de_en"].files["source"][0].member == f"x.{source}"
        assert data.sides("train") == ("source", "target")


def test_a_treebank_has_one_side_and_is_not_translated(folder: Path):
    gold = {"format": "conllu", "files": {"source": {"name": "x.conllu", "url": "https://example.org/x"}}}
    other = {"format": "conllu", "files": {"target": {"name": "y.conllu", "url": "https://example.org/y"}}}
    splits = {"gold_bank": "bank", "gold_other": "other", "treebank_other": "other"}
    child(folder, "with_gold", corpora={"bank": gold, "other": other}, splits=splits)
    data = Project.load(folder).dataset("with_gold")
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


def test_a_system_may_start_from_a_system_with_another_dropout(folder: Path):
    names = ("dropout", "embedding_dropout", "attention_dropout", "activation_dropout")
    entry = {"extends": "depparse_l1", "start_from": "depparse_l1", "model": dict.fromkeys(names, 0.4)}
    (folder / "systems" / "mine.yaml").write_text(yaml.safe_dump({"mine": entry}))
    model = Project.load(folder).run("demo_en2de", "mine", "paper", 1).model
    assert {getattr(model, name) for name in names} == {0.4}


NO_FIT = "so its vocabularies do not fit"
STARTS = [
    ("depparse_l1", "depparse_l2x", "Did you mean depparse_l2, "),
    ("depparse_l1", "mine", "mine starts from mine: this is circular"),
    ("transformer_base", "post", "post has another model (norm post instead of pre), so its weights do not fit."),
    ("depparse_l1", "demo_en2d/depparse_l1", "unknown data set 'demo_en2d'. Did you"),
    ("depparse_l1", "smoke/near/depparse_l1", "unknown data set 'smoke/near'."),
    ("depparse_l1", "demo_en2de/depparse_1", "unknown system 'depparse_1'. Did you"),
    ("depparse_l1", "demo_en2de/mine", "mine starts from mine starts from mine"),
    ("depparse_l1", "far/depparse_l1", f"the segmentation of far, {NO_FIT}: set `segmentation_from: far` in the data"),
    ("depparse_l1", "small/depparse_l1", f"small/depparse_l1 has another segmentation (bpe_joint_100), {NO_FIT}."),
    ("base_specdep", "demo_en2de/base_specdep", "reads labels, of which each data set has its own, so its weights do"),
    ("base_specpos", "demo_en2de/base_specpos", "reads labels, of which each"),
]
"""What a system extends, what it starts from, and what is said."""


@pytest.mark.parametrize(("extends", "start_from", "words"), STARTS)
def test_a_run_starts_from_one_of_any_data_set_if_its_weights_fit(folder: Path, extends, start_from, words):
    """With the segmentation of the other: `near` has that of the demo."""
    child(folder, "near", segmentation_from="demo_en2de")
    child(folder, "far")
    child(folder, "small", segmentation={"size": 100}, segmentation_from="demo_en2de")
    good = {"extends": "depparse_l1", "start_from": "demo_en2de/depparse_l1", "training": {"max_updates": 9}}
    post = {"extends": "transformer_base", "model": {"norm": "post"}}
    systems = {"good": good, "post": post, "mine": {"extends": extends, "start_from": start_from}}
    (folder / "systems" / "mine.yaml").write_text(yaml.safe_dump(systems))
    project = Project.load(folder)
    for dataset in ("near", "demo_en2de"):
        assert project.run(dataset, "good", "smoke", 2).start == ("demo_en2de", "depparse_l1")
    assert words in fault(folder, "near", "mine", "paper")


def test_no_split_depends_on_another_split(folder: Path):
    gold = {"format": "conllu", "files": {"source": {"name": "x.conllu", "url": "https://example.org/x"}}}
    child(folder, "with_gold", corpora={"bank": gold}, splits={"gold_bank": "bank"})
    child(folder, "other", filters=["empty"], main_test="dev")
    project = Project.load(folder)
    demo = project.dataset("demo_en2de")
    for name in ("with_gold", "other"):
        for split in ("train", "dev", "test"):
            assert ReadingSettings.of(project.dataset(name), split) == ReadingSettings.of(demo, split)
    assert ReadingSettings.of(demo, "dev") != ReadingSettings.of(demo, "test")
    other = project.dataset("other")
    assert FilteringSettings.of(other, "train") != FilteringSettings.of(demo, "train")
    assert FilteringSettings.of(other, "dev") == FilteringSettings.of(demo, "dev")


def test_a_child_can_drop_parts_of_its_parent(folder: Path):
    own = {"format": "demo", "options": {"split": "train"}}
    child(folder, "parent", corpora={"own": own}, annotators={"other": {"tool": "existing"}})
    values = {"annotators": {"other": None}, "syntax": {"source": {"dependencies": None}, "target": None}}
    child(folder, "less", extends="parent", corpora={"own": None}, splits={"test": None}, main_test="dev", **values)
    parent, less = (Project.load(folder).dataset(name) for name in ("parent", "less"))
    assert "own" in parent.corpora
    assert "dependencies" in parent.syntax["source"]
    assert set(less.annotators) == set(parent.annotators) - {"other"}
    assert set(less.syntax) == {"source"}
    assert "dependencies" not in less.syntax["source"]
    assert "own" not in less.corpora
    assert list(less.splits) == ["train", "dev", "gold_demo", "treebank_demo", "contrast_demo"]


def test_patterns_name_data_sets_and_systems(folder: Path):
    for name in ("demo_a", "other"):
        child(folder, name)
    settings = Project([folder], {"datasets": ["demo_*", "demo_en2de", "other"], "systems": ["depparse_l?"]}).settings
    assert settings.datasets == ("demo_a", "demo_en2de", "other")
    assert {"depparse_l0", "depparse_l5"} <= set(settings.systems)
