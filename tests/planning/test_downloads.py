"""Settings of files to download."""

import pytest
from workflow.calling import little

from nmtcore.errors import UserError
from nmtcore.planning.corpus import download_settings, file_settings, files_and_licences


def with_file(name="text/en.txt", **changes):
    """The data set `little` with another file as its training source."""
    corpora = little()["corpora"]
    corpora["train"]["files"]["source"] = {"name": name, "mirrors": [{"path": "en"}], **changes}
    return little(corpora=corpora)


def test_a_file_has_the_settings_that_a_data_set_gives_it(make_project):
    project = make_project(first=with_file(megabytes=3), second=with_file(megabytes=3))
    assert file_settings(project, file="text/en.txt").megabytes == 3
    with pytest.raises(UserError, match=r"first: train, second: train describe text/en\.txt differently"):
        file_settings(make_project(first=with_file(sha256="a" * 64), second=with_file()), file="text/en.txt")
    with pytest.raises(UserError, match=r"downloads/text/de.txt: no data set or model names this file\. Did you mean"):
        file_settings(project, file="text/de.txt")


def test_an_unknown_file_names_the_data_sets_that_cannot_be_read(make_project):
    project = make_project({"datasets": []}, first=with_file(), broken={"descripton": "?"})
    assert file_settings(project, file="text/en.txt").name == "text/en.txt"
    with pytest.raises(UserError, match=r"no data set or model names this file\. Not read: .*broken\.yaml"):
        file_settings(project, file="text/de.txt")


def test_a_download_depends_on_all_but_the_approximate_size(make_project):
    def tracked(**changes):
        return repr(download_settings(make_project(first=with_file(**changes)), file="text/en.txt"))

    assert tracked(megabytes=3) == tracked(megabytes=4)
    assert tracked(sha256="a" * 64) != tracked(sha256="b" * 64)


def test_files_come_with_the_licence_of_their_corpus_or_model(make_project):
    project = make_project(first=with_file())
    names = ["text/en.txt", "models/easyccg/easyccg.jar"]
    files = files_and_licences(project, names, datasets=["first"])
    assert list(files) == sorted(names)
    assert files["text/en.txt"][1] == "none"
    assert files["models/easyccg/easyccg.jar"][1] == project.annotator_model("easyccg").licence
    assert files_and_licences(project, names[:1], datasets=[])["text/en.txt"][1] == ""
