"""The spaCy annotator: parsers and supertaggers."""

import json
import shutil
import sys
from itertools import islice

import pytest
from annotation.annotating import annotate_words

from nmtcore.config.datasets import SpacySettings

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def models(shared):
    return shared / "models"


def annotate(sentences, *, model, models, **settings):
    return annotate_words(SpacySettings(model=model, **settings), sentences, models)


def multi30k(shared, count):
    with open(shared / "data" / "multi30k" / "val.cs", encoding="utf-8", newline="\n") as file:
        return [line.split() for line in islice(file, count)]


def test_an_installed_pipeline_is_loaded_with_its_own_code(tmp_path, shared, models, monkeypatch):
    monkeypatch.setattr("site.getsitepackages", lambda: [str(tmp_path / "site")])
    meta = json.loads((models / "cs_ud" / "meta.json").read_text(encoding="utf-8"))
    package = tmp_path / "site" / "cs_installed"
    shutil.copytree(models / "cs_ud", package / f"{meta['lang']}_{meta['name']}-{meta['version']}")
    shutil.copy(models / "cs_ud" / "meta.json", package)
    code = "from spacy.util import load_model_from_init_py\n\n\ndef load(**overrides):\n"
    (package / "__init__.py").write_text(f"{code}    return load_model_from_init_py(__file__, **overrides)\n")
    # Python would import this package of the same name instead: it is in the working directory, first on the path.
    (tmp_path / "here" / "cs_installed").mkdir(parents=True)
    (tmp_path / "here" / "cs_installed" / "__init__.py").write_text("raise RuntimeError('the wrong one')")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.syspath_prepend(str(tmp_path / "here"))
    monkeypatch.delitem(sys.modules, "cs_installed", raising=False)
    sentences = multi30k(shared, 3)
    installed = annotate(sentences, model="cs_installed", models=tmp_path / "nowhere")
    monkeypatch.delitem(sys.modules, "cs_installed")
    assert installed == annotate(sentences, model="cs_ud", models=models)


def test_other_components_are_disabled(tmp_path, models):
    spacy = pytest.importorskip("spacy")
    nlp = spacy.load(models / "en_ud")
    for name in ("sentencizer", "entity_ruler", "merge_entities"):
        nlp.add_pipe(name)
    nlp.get_pipe("entity_ruler").add_patterns([{"label": "X", "pattern": "two words"}])
    nlp.to_disk(tmp_path / "pipeline")
    (annotation,) = annotate([["I", "see", "two", "words", ".", "Yes", "."]], model="pipeline", models=tmp_path)
    assert len(annotation.head) == 7
    assert list(annotation.head).count(0) == 1


def test_a_supertagger_returns_categories_and_no_trees(shared, models):
    with open(shared / "data" / "ccg" / "pmb4_en_dev.txt", encoding="utf-8") as file:
        lines = [[pair.rsplit("|", 1) for pair in line.split()] for line in islice(file, 300)]
    sentences = [[word for word, _ in line] for line in lines]
    annotations = annotate(sentences, model="en_ccg_pmb", models=models, tags="ccg")
    correct = total = 0
    for line, annotation in zip(lines, annotations, strict=True):
        assert annotation.reason is None
        assert annotation.head is annotation.upos is annotation.xpos is None
        correct += sum(gold_tag == tag for (_, gold_tag), tag in zip(line, annotation.ccg, strict=True))
        total += len(line)
    assert correct / total > 0.85
