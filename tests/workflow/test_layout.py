"""The rules declare the paths of the layout, and no others."""

import json
import re
import subprocess
import sys

import pytest

from nmtcore.config.project import Project
from nmtcore.layout import FILES, JOBS

NOT_DECLARED = {"features", "checkpoints", "unfinished"}
"""A folder of declared files, and what Snakemake must not know of, lest it deletes it."""

DUMP = """
include: {snakefile!r}
import json
declared = dict(
    outputs={{one.name: list(map(str, one.output)) for one in workflow.rules}},
    logs={{one.name: list(map(str, one.log)) for one in workflow.rules}},
    benchmarks={{one.name: str(one.benchmark or "") for one in workflow.rules}},
    producers={{path: [one.name for one in workflow.rules if one.is_producer(path)] for path in {paths!r}}},
)
json.dump(declared, open({output!r}, "w"))
"""


def sample_paths(layout):
    """A path of each kind that rules declare, of runs one a scale."""
    names = {
        "dataset": "demo_en2de", "system": "depparse_l1", "split": "train", "side": "source", "annotator": "existing",
        "other": "parser", "segmentation": "bpe_joint_2000", "seed": 1, "shard": 0, "shards": 2, "score": "gold.uas",
        "table": "mine/", "file": "europarl/a.gz",
    }  # fmt: skip
    found = {}
    for kind in FILES.keys() - NOT_DECLARED:
        own = {name: names[name] for name in re.findall(r"\{(\w+)\}", FILES[kind]) if name in names}
        for scale in ("paper", "smoke") if "{root}" in FILES[kind] else (None,):
            found[layout.path(kind, **own, **({"scale": scale} if scale else {}))] = kind
    return found


@pytest.fixture(scope="module")
def layout(root):
    return Project.load(root / "config").layout


@pytest.fixture(scope="module")
def declared(root, layout, tmp_path_factory):
    folder = tmp_path_factory.mktemp("declared")
    values = {"snakefile": str(root / "Snakefile"), "paths": list(sample_paths(layout)), "output": str(folder / "json")}
    (folder / "Snakefile").write_text(DUMP.format(**values))
    command = [sys.executable, "-m", "snakemake", "-d", str(folder), "-s", str(folder / "Snakefile"), "--list-rules"]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    return json.loads((folder / "json").read_text())


def without_constraints(pattern):
    return re.sub(r"\{(\w+),[^{}]*\}", r"{\1}", pattern)


def test_every_output_is_a_kind_of_file_and_every_kind_is_made_by_one_rule(declared, layout):
    outputs = [without_constraints(path) for paths in declared["outputs"].values() for path in paths]
    assert sorted(outputs) == sorted(layout.pattern(kind) for kind in FILES.keys() - NOT_DECLARED)


def test_every_path_is_read_and_made_by_one_rule(declared, layout):
    for path, kind in sample_paths(layout).items():
        assert layout.parse(path).file_type == kind
        assert len(declared["producers"][path]) == 1, path


def test_every_rule_has_the_logs_and_benchmarks_of_its_name(declared, layout):
    with_logs = {name for name, logs in declared["logs"].items() if logs}
    assert with_logs == JOBS.keys()
    for name in JOBS:
        (log,) = map(without_constraints, declared["logs"][name])
        assert log == layout.log(name)
        assert without_constraints(declared["benchmarks"][name]) == layout.benchmark(name)


def test_wildcards_are_constrained_as_the_layout_says(declared, layout):
    outputs = "".join(path for paths in declared["outputs"].values() for path in paths)
    wildcards = re.findall(r"\{(\w+)(?:,([^{}]*))?\}", outputs)
    assert {name for name, _ in wildcards} == layout.constraints.keys()
    for name, constraint in wildcards:
        assert constraint == layout.constraints[name]
