"""The rules declare exactly the paths of the layout."""

import re

import pytest

from nmtcore.config.project import Project
from nmtcore.layout import FILES, JOBS, NO_OUTPUTS
from nmtcore.planning.evaluation import pattern_of, trained_pattern, translating_pattern


def sample_paths(layout):
    """Return a path of each declared file type; for files of runs, one path per scale."""
    names = {
        "dataset": "demo_en2de", "system": "depparse_l1", "split": "train", "side": "source", "annotator": "existing",
        "other": "parser", "segmentation": "bpe_joint_2000", "seed": 1, "shard": 0, "shards": 2, "score": "gold.uas",
        "folder": "mine/", "file": "europarl/a.gz", "paper": "pham2018", "table": "pham2018_table_6_3",
        "metric": "comet", "column": "lemma",
    }  # fmt: skip
    paths = {}
    for file_type in FILES.keys() - NO_OUTPUTS:
        own = {name: names[name] for name in re.findall(r"\{(\w+)\}", FILES[file_type]) if name in names}
        for scale in ("paper", "smoke") if "{root}" in FILES[file_type] else (None,):
            paths[layout.path(file_type, **own, **({"scale": scale} if scale else {}))] = file_type
    return paths


@pytest.fixture(scope="module")
def layout(root):
    return Project.load(root / "config").layout


@pytest.fixture(scope="module")
def outputs(rules):
    return [str(path) for rule in rules.workflow.rules for path in rule.output]


def without_constraints(pattern):
    return re.sub(r"\{(\w+),[^{}]*\}", r"{\1}", str(pattern))


def test_outputs_and_file_types_correspond(outputs, layout):
    patterns = [*map(without_constraints, outputs)]
    # Translations are made by one rule for systems with a model, and by another for external ones; models by two rules.
    patterns.remove(layout.pattern("hypotheses"))
    patterns.remove(layout.pattern("model"))
    assert sorted(patterns) == sorted(layout.pattern(name) for name in FILES.keys() - NO_OUTPUTS)


def test_every_path_is_parsed_and_made_by_one_rule(rules, layout):
    for path, file_type in sample_paths(layout).items():
        assert layout.parse(path).file_type == file_type
        assert sum(rule.is_producer(path) for rule in rules.workflow.rules) == 1, path


def test_every_rule_has_its_own_log_and_benchmark(rules, layout):
    with_logs = {rule.name: rule for rule in rules.workflow.rules if rule.log}
    assert with_logs.keys() == JOBS.keys()
    for name, rule in with_logs.items():
        (log,) = map(without_constraints, rule.log)
        assert log == layout.pattern(f"{name}.log")
        if rule.output:
            assert without_constraints(rule.benchmark) == layout.pattern(f"{name}.benchmark")


def test_wildcards_have_the_constraints_of_the_layout(outputs, root, layout):
    project = Project.load(root / "config")
    untrained = (pattern_of(names) for names in (project.systems.external, project.systems.imported))
    systems = (layout.constraints["system"], trained_pattern(project), translating_pattern(project), *untrained)
    wildcards = re.findall(r"\{(\w+)(?:,([^{}]*))?\}", "".join(outputs))
    assert {name for name, _ in wildcards} == layout.constraints.keys()
    for name, constraint in wildcards:
        assert constraint in (systems if name == "system" else [layout.constraints[name]])
