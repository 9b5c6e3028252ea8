"""Files of the user's own code: found by name, imported on use, with a checksum in what depends on them."""

import json
import pickle

import pytest

from nmtcore.config.catalogue import Catalogue
from nmtcore.config.corpora import FILTERS, LengthSettings
from nmtcore.config.project import Project
from nmtcore.config.registry import own_member, own_module
from nmtcore.config.runs import differences, training_settings
from nmtcore.config.stages import FilteringSettings, ScoringSettings, filtering_values
from nmtcore.config.typed import changed
from nmtcore.errors import UserError
from nmtcore.evaluation.metrics import METRICS, metric_labels
from nmtcore.new.component import new_component_files
from nmtcore.planning.evaluation import seed_scores
from nmtcore.schemas import file_schemas

FILTER = '''"""A filter."""

from nmtcore.config.corpora import FilterSettings
from nmtcore.config.typed import Amount, settings_class


@settings_class
class OddSettings(FilterSettings):
    """Drop nothing."""

    most: Amount = 3
    """A number."""


def drops(settings, pairs, languages):
    return [False] * len(pairs)
'''
METRIC = """LABEL = "mine"


def counts(translations, references, evaluation):
    return [[len(line)] for line in translations], "mine"


def score(counts_AF):
    return counts_AF[:, 0]
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A function that writes a file of the working folder."""

    def write(name, text):
        path = tmp_path / "config" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    monkeypatch.chdir(tmp_path)
    return write


@pytest.fixture
def project(own, root):
    """A function that reads the project of the working folder with a component, a filter and a metric of its own."""
    own("filters/odd.py", FILTER)
    own("metrics/mine.py", METRIC)
    own("datasets/mine.yaml", "{extends: demo_en2de, filters: [empty, odd], evaluation: {metrics: [mine]}}")

    def read():
        return Project(["config", root / "config"], {})

    for path, text in new_component_files("vector", read(), own("x", "").parents[1]).items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return read


def depends(project):
    run = project.run("mine", "vector", "smoke", 1)
    filtering = FilteringSettings.of(project.dataset("mine"), "train")
    return training_settings(run), filtering_values(filtering), changed(ScoringSettings.of_tests(run))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_changed_code_changes_what_depends_on_it_and_nothing_else(project, own, tmp_path, place):
    before = depends(project())
    path = tmp_path / "config" / ("components/vector.py", "filters/odd.py", "metrics/mine.py")[place]
    key = ("components.vector.code", "filters", "own_metrics.mine")[place]
    text = path.read_text(encoding="utf-8")
    path.write_text(text + "\n\nADDED = 1\n", encoding="utf-8")
    lines = [differences(*pair) for pair in zip(before, depends(project()), strict=True)]
    assert [bool(own) for own in lines] == [number == place for number in range(3)]
    assert [line.partition(": ")[0] for line in lines[place]] == [key]


def test_a_filter_is_built_checked_and_written_back(own):
    own("filters/odd.py", FILTER)
    settings = FILTERS.build({"name": "odd", "most": 5}, where="f")
    entry = FILTERS.entry_of(settings)
    assert entry.keys() == {"name", "code", "most"}
    assert FILTERS.build(entry, where="f") == settings
    assert pickle.loads(pickle.dumps(settings)) == settings
    with pytest.raises(UserError, match="most must be at least 0"):
        FILTERS.build({"name": "odd", "most": -1}, where="f")
    with pytest.raises(UserError, match="Did you mean odd"):
        FILTERS.build({"name": "od"}, where="f")
    assert FILTERS.entry_of(LengthSettings()) == {"name": "length", "least": 1, "most": 250}


def test_a_changed_file_is_imported_again(own):
    own("metrics/mine.py", METRIC)
    assert METRICS["mine"].label == "mine"
    own("metrics/mine.py", METRIC.replace('"mine"', '"other"'))
    assert METRICS["mine"].label == "other"
    assert metric_labels({"mine": {"test": {"mine": 1.0, "mine_signature": "m"}}})["mine"] == "other"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = (", r"^config/filters/odd.py, line 1: .*never closed"),
        ("import os\n\nimport no_such_package\n", r"^config/filters/odd.py, line 3: ModuleNotFoundError: "),
        ("x = 1\n", r"^config/filters/odd.py: expected one class that is derived from FilterSettings"),
        (FILTER.replace("@settings_class\n", ""), r"^config/filters/odd.py: write @settings_class above the class Odd"),
        (FILTER.replace("most", "name"), "odd.py: a setting cannot be called 'name', which is a key of"),
        (FILTER + FILTER.partition("\n\n\n")[2].replace("Odd", "Even"), "but found 2"),
    ],
)
def test_mistakes_in_a_file_are_sentences(own, text, sentence):
    own("filters/odd.py", text)
    with pytest.raises(UserError, match=sentence):
        FILTERS.build({"name": "odd"}, where="f")


def test_a_missing_function_is_named(own):
    own("filters/odd.py", FILTER.replace("def drops", "def drop"))
    with pytest.raises(UserError, match=r"^config/filters/odd.py has no 'drops', which every filter needs"):
        own_member("filters", "odd", "drops")


def test_names_that_are_not_read_are_faults(own, root):
    own("filters/length.py", FILTER)
    own("metrics/bleu.py", METRIC)
    own("components/Mine.py", "")
    faults = Catalogue(["config", root / "config"]).faults
    assert faults == [
        "config/components/Mine.py: a name consists of small letters, digits and single underscores.",
        "config/filters/length.py: nmtcore itself has 'length': give your filter another name.",
        "config/metrics/bleu.py: nmtcore itself has 'bleu': give your metric another name.",
    ]
    assert FILTERS["length"] is LengthSettings


def test_an_unknown_metric_of_a_data_set_is_named(project, own):
    own("datasets/mine.yaml", "{extends: demo_en2de, description: Mine, evaluation: {metrics: [mien]}}")
    with pytest.raises(UserError, match=r"evaluation: metrics: unknown metric 'mien'. Did you mean mine\?"):
        project().dataset("mine")


def test_an_own_metric_is_a_target(project):
    names = {"root": "results/smoke", "system": "transformer_base", "score": "mine"}
    assert seed_scores(project(), dataset="mine", **names)
    with pytest.raises(UserError, match=r"transformer_base has no \.mine on demo_en2de, only \.bleu"):
        seed_scores(project(), dataset="demo_en2de", **names)
    assert project().layout.parse("results/smoke/mine/transformer_base.mine").file_type == "summary"


def test_schemas_know_own_files(project):
    schemas = file_schemas()
    components = schemas["systems"]["additionalProperties"]["properties"]["components"]["properties"]
    assert "kind" in components["vector"]["anyOf"][0]["properties"]
    dataset, _ = schemas["datasets"]["anyOf"]
    assert "odd" in json.dumps(dataset["properties"]["filters"])
    evaluation = schemas["datasets"]["$defs"].get("EvaluationSettings") or dataset["properties"]["evaluation"]
    assert '"mine"' in json.dumps(evaluation)


def test_a_file_of_another_folder_is_not_taken(own, tmp_path, monkeypatch):
    own("metrics/mine.py", METRIC)
    assert own_module("metrics", "mine").LABEL == "mine"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert "mine" not in METRICS
