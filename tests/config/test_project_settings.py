"""Keys of config.yaml on the command line, as Snakemake passes them to planning and to jobs."""

import dataclasses
from types import SimpleNamespace

import pytest
import yaml
from snakemake.cli import parse_config

from nmtcore.config.project import MachineSettings, PathsSettings, ProjectSettings, read_project_settings
from nmtcore.errors import UserError
from nmtcore.job import job_settings

EXAMPLES = {
    "scale": ("smoke", "smoke"),
    "seeds": ("[1, 2]", (1, 2)),
    "datasets": ('["demo_*", "cs2en"]', ("demo_*", "cs2en")),
    "systems": ("[depparse_l0,pascal]", ("depparse_l0", "pascal")),
    "stand_ins": ("rehearsal", "rehearsal"),
    "unfinished_runs": ("leave_out", "leave_out"),
    "paths": ("{results: here, manual: by_hand}", PathsSettings(results="here", manual="by_hand")),
    "mirrors": ('["/my corpora", "https://example.org:80/x"]', ("/my corpora", "https://example.org:80/x")),
    "models": ("[/my/parsers, others]", ("/my/parsers", "others")),
    "http_hosts": ("[localhost:8000]", ("localhost:8000",)),
    "device": ("cpu", "cpu"),
    "gpus": ("2", 2),
    "threads": ("4", 4),
    "machine": (
        "{compile: true, device_size: null, log_every: 5}",
        MachineSettings(compile=True, device_size=None, log_every=5),
    ),
}
"""The text after `KEY=` on the command line, and its value."""


@pytest.mark.parametrize("key", [field.name for field in dataclasses.fields(ProjectSettings)])
def test_every_key_can_be_given_on_the_command_line_and_in_the_file(key):
    typed, value = EXAMPLES[key]
    config = parse_config([f"{key}={typed}"])
    for given in (config, yaml.safe_load(f"{key}: {typed}")):
        assert getattr(read_project_settings(given, where="config.yaml"), key) == value
    assert getattr(job_settings(SimpleNamespace(config=config)), key) == value


def test_null_can_be_given_where_it_is_a_choice():
    assert read_project_settings(parse_config(["stand_ins=null"]), where="config.yaml").stand_ins is None


@pytest.mark.parametrize(
    ("key", "typed", "value"), [("systems", "pascal", ("pascal",)), ("datasets", "demo_en2de", ("demo_en2de",))]
)
def test_a_single_value_becomes_a_list(key, typed, value):
    assert getattr(read_project_settings(parse_config([f"{key}={typed}"]), where="config.yaml"), key) == value


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("seeds=[1,x]", r"config.yaml: seeds\[1\]: expected a whole number, found 'x'"),
        ("seeds=[1,01]", "config.yaml: seeds must be a list of different numbers"),
        ("seeds=[1,-2]", r"config.yaml: seeds\[1\] must be at least 0, not '-2'"),
        ("seeds=3", r"^config.yaml: seeds: write a list, \[3\] for one run with this seed, \[1, 2, 3\] for three runs"),
        ("seeds=", "config.yaml: seeds: expected a list, found nothing"),
        ("paths={results: [a]}", "config.yaml: paths: results: expected a string"),
    ],
)
def test_values_of_the_wrong_type_are_errors(typed, sentence):
    with pytest.raises(UserError, match=sentence):
        read_project_settings(parse_config([typed]), where="config.yaml")
