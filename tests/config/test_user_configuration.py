"""A user's own configuration files next to the repository's: broken, duplicate, misnamed or hiding other files."""

import re
from pathlib import Path

import pytest

from nmtcore.config.assembly import MissingAnnotation
from nmtcore.config.catalogue import Catalogue
from nmtcore.config.project import Project
from nmtcore.errors import UserError
from nmtcore.planning.configured import configured_runs

CONFIG = Path(__file__).parents[2] / "config"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("mine: {extends: [\n", "mine.yaml, line 2: not valid YAML"),
        ("mine: 3\n", "mine.yaml: mine: expected keys and values, found 3."),
        ("My System: {}\n", "mine.yaml: 'My System' cannot be a system's name"),
        ("corpus: {}\n", "mine.yaml: 'corpus' cannot be a system's name"),
    ],
)
def test_a_broken_file_of_systems_only_affects_its_own_systems(own_project, text, sentence):
    project = own_project({"systems/mine": text}, systems=["mine", "depparse_l0"])
    assert project.run("demo_en2de", "depparse_l0", "smoke", 1).system == "depparse_l0"
    (fault,) = project.systems.unread.values()
    assert sentence in fault
    with pytest.raises(UserError, match="unknown system 'mine'") as error:
        project.run("demo_en2de", "mine", "smoke", 1)
    assert str(error.value).endswith(f"Not read: {fault}")


def test_a_system_that_extends_one_in_a_broken_file_names_that_file(own_project):
    project = own_project({"systems/broken": "parent: 3\n", "systems/mine": "mine: {extends: parent}\n"})
    with pytest.raises(UserError, match=r"yaml:1: mine: extends: unknown system 'parent'.*Not read: .*broken.yaml"):
        project.run("demo_en2de", "mine", "smoke", 1)


def test_names_that_a_folder_without_config_cannot_know_name_the_folder(root, tmp_path):
    """As after `snakemake -d FOLDER`, with a FOLDER that is not the one that was meant."""
    project = Project([tmp_path / "nowhere/config", root / "config"], {})
    here = re.escape(f"{tmp_path}/nowhere has no config/, so there are none of your own: is it the right folder?")
    with pytest.raises(UserError, match=f"unknown system 'mine'.* {here}$"):
        project.run("demo_en2de", "mine", "smoke", 1)
    with pytest.raises(UserError, match=f"unknown data set 'mine'.* {here}$"):
        project.dataset("mine")
    (tmp_path / "nowhere/config").mkdir(parents=True)
    with pytest.raises(UserError, match=r"unknown data set 'mine'. Valid are .* others.$"):
        Project([tmp_path / "nowhere/config", root / "config"], {}).dataset("mine")


def test_a_system_in_two_files_is_an_error_that_names_both(own_project, tmp_path):
    with pytest.raises(UserError, match="the system 'pascal' is also defined in") as error:
        own_project({"systems/mine": "pascal: {extends: transformer_base}\n"})
    assert str(tmp_path / "systems/mine.yaml") in str(error.value)
    assert str(CONFIG / "systems/bugliarello2020.yaml") in str(error.value)


SUBFOLDERS = ["datasets", "corpora", "models", "recipes", "scales", "systems"]


@pytest.mark.parametrize("subfolder", SUBFOLDERS)
def test_a_misnamed_file_is_reported_and_does_not_affect_other_runs(own_project, tmp_path, subfolder):
    project = own_project({f"{subfolder}/My-Own": "description: x\n"}, datasets=["demo_en2de"])
    assert project.run("demo_en2de", "transformer_base", "smoke", 1).dataset == "demo_en2de"
    (fault,) = project.faults
    rule = "a name consists of small letters, digits and single underscores and begins with a letter."
    assert fault == f"{tmp_path}/{subfolder}/My-Own.yaml: {rule}"


@pytest.mark.parametrize("name", ["My-Own", "smoke", "tables"])
def test_a_data_set_with_an_invalid_name_is_only_an_error_when_used(own_project, tmp_path, name):
    files = {f"datasets/{name}": "{extends: demo_en2de}\n", "datasets/mine": f"{{extends: {name}}}\n"}
    project = own_project(files, datasets=["demo_*"])
    (fault,) = project.faults
    assert project.run("demo_en2de", "transformer_base", "smoke", 1)
    assert fault.startswith(f"{tmp_path}/datasets/{name}.yaml: ")
    for use in (lambda: own_project({}, datasets=[name]), lambda: project.dataset("mine")):
        with pytest.raises(UserError) as error:
            use()
        assert str(error.value).endswith(f"Not read: {fault}")


def test_a_scale_with_an_invalid_name_is_an_error_when_used(own_project):
    with pytest.raises(UserError, match=r"Not read: .*My-Own.yaml: a name consists of"):
        own_project({"scales/My-Own": "description: x\n"}, scale="My-Own")


@pytest.mark.parametrize("name", ["datasets/multi30k_cs2en", "systems/pham2018", "scales/smoke"])
def test_a_file_that_hides_another_is_reported(own_project, tmp_path, name):
    own_project({"datasets/mine": "a: 1\n"})
    assert Catalogue([tmp_path, CONFIG]).hidden == []
    own_project({name: "a: 1\n"})
    assert Catalogue([tmp_path, CONFIG]).hidden == [f"{tmp_path / name}.yaml is used in place of {CONFIG / name}.yaml."]


def test_the_repositorys_own_folder_hides_no_files(monkeypatch):
    monkeypatch.chdir(CONFIG.parent)
    assert Catalogue([Path("config"), CONFIG]).hidden == []


BARE = "{extends: demo_en2de, annotators: null, syntax: null}\n"


def test_a_pattern_leaves_out_systems_without_their_annotation(own_project):
    project = own_project({"datasets/bare": BARE}, datasets=["bare", "demo_en2de"], systems=["*"])
    runs, sentences = configured_runs(project)
    left_out, unpublished = (sentence for sentence in sentences if sentence.startswith("demo_en2de"))
    assert left_out.startswith("demo_en2de has no annotator for ccg on the target side: "), "German has no categories"
    assert unpublished.startswith("demo_en2de has no model opus-mt-en-de: imported_depparse, ")
    assert "tag_attention" not in {run.system for run in runs if run.dataset == "demo_en2de"}
    sentences.remove(left_out)
    sentences = [sentence for sentence in sentences if "has no model" not in sentence]
    of_bare = [run.system for run in runs if run.dataset == "bare"]
    assert "transformer_base" in of_bare
    assert "depparse_l0" not in of_bare
    reasons = [sentence.partition(":")[0] for sentence in sentences]
    assert len(set(reasons)) == len(reasons), "one per reason"
    assert all(sentence.startswith("bare has no annotator for ") for sentence in sentences)
    assert "bare has no annotator for constituency on the source side: currey_heafield is left out." in sentences
    (many,) = (sentence for sentence in sentences if "dependencies on the source side" in sentence)
    assert many.endswith(" are left out.")


def test_a_system_named_in_full_needs_its_annotation(own_project):
    project = own_project({"datasets/bare": BARE}, datasets=["bare"], systems=["*", "depparse_l0"])
    with pytest.raises(MissingAnnotation, match="depparse_l0 on bare at scale paper: needs dependencies on the source"):
        configured_runs(project)
