"""Scores by metrics that are commands: what they read and write, and what is said of those that fail."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from factories import run_settings
from pair_files import write_corpus

from nmtcore.config.metrics import COMET, command_metric, command_metric_names
from nmtcore.config.stages import ScoringSettings
from nmtcore.config.training import EvaluationSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.counts import checksum_of_test, read_counts
from nmtcore.evaluation.outside import score_by_command, sentence_table
from nmtcore.evaluation.scores import make_output_files, score_metric
from nmtcore.files import read_json, write_json, write_lines
from nmtcore.tables.measures import as_gain, measure_label, measure_named

SPLITS = {"test": ["s0", "s2", "s3", "s4"], "dev": ["d0", "d1", "d2"]}
"""Sources; the ids of the tests have a gap, and the scale leaves out the last sentence of each split."""
SENTENCES = [{"source": f"s{i}\t", "translation": "ein „Wort“" * i, "reference": "r"} for i in range(3)]


@pytest.fixture
def write_metric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write the file of a metric `mine`, or of another one, in a working folder."""
    monkeypatch.chdir(tmp_path)
    Path("config/metrics").mkdir(parents=True)

    def write(name: str = "mine", **values) -> None:
        Path(f"config/metrics/{name}.yaml").write_text(yaml.safe_dump(values))

    return write


def score(command: str, write_metric, **values) -> dict:
    write_metric(command=command, **values)
    return score_by_command("mine", SENTENCES, model="", device="cpu")


def test_a_command_reads_a_table_and_writes_numbers(write_metric, tmp_path: Path):
    script = tmp_path / "count.py"
    script.write_text(
        "import json, sys\nrows = [json.loads(line) for line in sys.stdin]\nprint('# mine|v:2')\n"
        "print('read', file=sys.stderr)\n"
        "print(*(len(r['source'] + r['translation']) / 3 for r in rows), sep='\\n')\n"
    )
    own = tmp_path / "venv/bin/own"
    own.parent.mkdir(parents=True)
    own.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    own.chmod(0o700)
    scored = score("own ../count.py", write_metric, environment="../venv")
    expected = [len(row["source"] + row["translation"]) / 3 for row in SENTENCES]
    assert scored == {"signature": "mine|v:2", "scores": expected}
    before = command_metric("mine").made_from
    assert list(before["files"]) == ["../count.py"]
    os.utime(script, (1, 1))
    assert command_metric("mine").made_from == before, "only the content counts"
    script.write_text("print(1)")
    assert command_metric("mine").made_from != before


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("seq 2", r"mine.yaml: the command wrote 2 numbers for 3 sentences: let it write one for each line that"),
        ("seq 4", "wrote 4 numbers for 3 sentences"),
        ("echo 1; echo; echo 3", "mine.yaml: line 2 of what the command wrote is '', not a finite number: let it"),
        ("echo '# x'; echo good", "line 2 of what the command wrote is 'good', not a finite number"),
        ("echo nan; seq 2", "line 1 of what the command wrote is 'nan'"),
        ("seq 3; echo no card >&2; exit 3", "mine.yaml: the command ended with status 3 and said last: no card"),
        ("seq 3 | false | cat", "ended with status 1: try it by hand in the folder config"),
        ("not_there", "ended with status 127 and said last: bash: line 1: not_there: command not found"),
    ],
)
def test_what_a_command_does_wrong_is_said_in_a_sentence(write_metric, command, sentence):
    with pytest.raises(UserError, match=sentence):
        score(command, write_metric)


def test_a_file_is_a_metric_of_its_name(write_metric):
    write_metric(command="cat", label="Mine", higher_is_better=False, digits=3)
    for name in ("bleu", "length_ratio", "Wrong"):
        write_metric(name, command="cat")
    assert command_metric_names() == ["comet", "mine"]
    measure = measure_named("mine")
    assert (measure.label, measure_label("mine"), measure.digits) == ("Mine ↓", "Mine ↓", 3)
    assert as_gain("mine", 1, -2, 4) == (-1, -4, 2)
    assert as_gain("comet", 1, -2, 4) == (1, -2, 4)
    write_metric("comet", environment="../venv")
    comet = command_metric("comet")
    assert (comet.command, comet.environment) == (COMET["command"], str(Path("venv").absolute()))
    for values, sentence in (
        ({"comand": "cat"}, r"mine.yaml:1: unknown key 'comand'. Did you mean command\?"),
        ({"command": "cat {model}"}, r"a command with {model} needs model_name"),
        ({"command": "cat", "model_name": "m"}, r"model_name needs {model} in the command"),
        ({"command": "cat {model}", "model_name": "../m"}, r"a model is a plain name"),
        ({"command": "cat", "times": 0}, r"mine.yaml:2: times must be above 0"),
    ):
        write_metric(**values)
        with pytest.raises(UserError, match=sentence):
            command_metric("mine")


def write_sources(folder: Path) -> tuple[list[Path], list[Path]]:
    for split, sources in SPLITS.items():
        write_corpus(folder / f"{split}.parquet", [[s] for s in sources], ids=[int(s[1:]) for s in sources])
        files = make_output_files(folder / "hypotheses" / split)
        write_lines(files.translations, [f"mt {s}" for s in sources[:-1]])
        write_lines(files.references, [f"ref {s}" for s in sources[:-1]])
    return [folder / "hypotheses" / split for split in SPLITS], [folder / f"{split}.parquet" for split in SPLITS]


def test_the_sentences_of_all_splits_are_in_one_table(tmp_path: Path):
    paths = write_sources(tmp_path)
    names = ["s0", "s2", "s3", "d0", "d1"]
    expected = [{"source": name, "translation": f"mt {name}", "reference": f"ref {name}"} for name in names]
    assert list(sentence_table(*paths)) == expected
    write_lines(tmp_path / "hypotheses/dev/translations.txt", ["one", "two", "three"])
    with pytest.raises(UserError, match=r"dev/translations\.txt has 3 lines, but .*dev/references\.txt has 2: delete"):
        list(sentence_table(*paths))


def divided(folder: Path, scores: list, *, times: float, signature: str = "") -> list[str]:
    run = run_settings(tests=("test", "dev"), evaluation=EvaluationSettings(text="tokens"))
    hypotheses, _ = write_sources(folder)
    paths = {"output": folder / "o.json", "counts": folder / "metrics/m", "scores": folder / "metrics/m.json"}
    write_json(paths["output"], {"signature": signature, "scores": scores})
    made_from = {"command": "cat", "times": times}
    hypotheses = dict(zip(SPLITS, hypotheses, strict=True))
    return score_metric(
        ScoringSettings.of_command(run), metric="m", made_from=made_from, hypotheses=hypotheses, **paths
    )


def test_scores_are_divided_among_the_splits(tmp_path: Path):
    values = [0.5, 0.25, 1.5, -0.5, 0.125]
    for times, mean, dev in ((100, "75.0", -18.75), (2, "1.5", -0.375)):
        lines = divided(tmp_path, values, times=times, signature="M|v:1")
        assert lines == [f"{tmp_path} test: m {mean} (3 sentences)"]
        counts = read_counts(tmp_path / "metrics/m/test.parquet", "m")
        assert counts.counts_BF.tolist() == [[value, 100 / times] for value in values[:3]]
        assert counts.test == checksum_of_test(f"ref {source}" for source in SPLITS["test"][:-1])
        scores = read_json(tmp_path / "metrics/m.json")["m"]["dev"]
        assert scores == {"m": pytest.approx(dev), "m_signature": "M|v:1|text:tokens", "sentences": 2}
    divided(tmp_path, values, times=1)
    assert read_counts(tmp_path / "metrics/m/dev.parquet", "m").signature.startswith("m|command:")
    with pytest.raises(UserError, match=r"o\.json has 4 scores for 5 sentences: delete it"):
        divided(tmp_path, values[1:], times=1)


def test_an_environment_without_comet_is_explained(root, tmp_path: Path):
    (tmp_path / "comet.py").write_text("raise ImportError('no comet here')")
    call = [sys.executable, str(root / "workflow/scripts/run_comet.py"), "model"]
    options = {"capture_output": True, "text": True, "check": False, "env": {"PYTHONPATH": str(tmp_path)}}
    finished = subprocess.run(call, input=json.dumps(SENTENCES[0]), **options)
    assert (finished.returncode, finished.stdout) == (1, "")
    said = f"{sys.executable} cannot import comet (no comet here): install unbabel-comet there, or use conda.\n"
    assert finished.stderr == said
