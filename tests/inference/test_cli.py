"""The command line of `nmtcore`, run as a process or by `main`."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from called import call_nmtcore
from factories import run_settings
from inference.tiny import ending_at_once, write_bundle

from nmtcore.config.components import DepParseSettings, DiagonalParseSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.inference.batches import ON_GPU
from nmtcore.model.transformer import Transformer

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def nmtcore(*arguments, text=b"", code=0):
    """Run a command with `text` as input; check its exit code and return its output and errors."""
    called = call_nmtcore(*arguments, text=text)
    assert called.code == code, called.errors
    return called.output, called.errors


RUNS = {
    "plain": run_settings(),
    "depparse": run_settings(DepParseSettings(layer=1)),
    "diagonal": run_settings(DiagonalParseSettings(layer=0)),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return {name: write_bundle(tmp_path_factory.mktemp(name) / "model", run) for name, run in RUNS.items()}


@pytest.fixture(scope="module")
def model(models):
    return models["plain"]


def test_translations_have_one_line_per_input_line(model):
    lines = ["the cat", "", " \t ", "dog\u2028dog", "漢字 \u0085 x", "a" * 5000, "the"]
    text = "\n".join(lines).encode()
    output, errors = nmtcore("translate", model, "--beam", 2, "--max-length", 9, text=text)
    assert output.count("\n") == len(lines)
    assert output.endswith("\n")
    assert output.split("\n")[1:3] == ["", ""]
    assert output.split("\n")[5] == ""
    assert errors == (
        "standard input, line 6: left out, since it has more than 1,000 subwords.\n"
        "1 of 5 lines have an empty translation.\n"
    )
    output, _ = nmtcore("translate", model, "--n-best", 2, text=b"the cat\n\n")
    fields = [line.split(" ||| ") for line in output.splitlines()]
    assert [f[0] for f in fields] == ["0", "0", "1"]
    assert float(fields[0][2]) >= float(fields[1][2])


@pytest.mark.parametrize("options", [(), ("--beam", 1)])
def test_empty_translations_are_counted(tmp_path, options):
    folder = write_bundle(tmp_path / "model", train=ending_at_once)
    command, text = ("translate", folder, *options), b"the cat\n\ndog\nthe\n"
    output, errors = nmtcore(*command, "--min-length", 0, text=text)
    assert (output, errors) == ("\n\n\n\n", "3 of 3 lines have an empty translation.\n")
    output, errors = nmtcore(*command, text=text)
    assert ([bool(line) for line in output.splitlines()], errors) == ([True, False, True, True], "")


LONG = "x" * 1_000_001
MISTAKES = [
    ("translate", "plain", "--batch 1", b"the\n\xff\n", "standard input, line 2: is not valid UTF-8 (byte 1)"),
    ("translate", "plain", "", f"the\n{LONG}", "standard input, line 2: the line has more than 1,000,000 bytes: is"),
    ("translate", "plain", "", "the cat\n".encode("utf-16"), "standard input is UTF-16, not UTF-8: convert it (iconv"),
    ("translate", "plain", "", None, "standard input is closed"),
    ("translate", "plain", "--n-best 9", "the\n", "use a wider beam"),
    ("translate", "plain", "--device gpu", "", "type at start of device string: gpu); try cpu, or cuda for a GPU."),
    ("translate", "plain", "--beam 0", "the\n", "0 is less than 1"),
    ("translate", "plain", "--min-length -1", "", "decoding: min_length must be at least 0, not -1."),
    ("translate", "plain", "--attention pipe", "the\n", "pipe is not a regular file: choose another output file."),
    ("translate", "plain", "--tags tags.parquet", "", "The system tiny predicts no tags: use a model of another"),
    ("translate", "plain", "--parser x", "the\n", "--parser: expected keys and values, found a str."),
    ("parse", "depparse", "--conllu absent", "", "absent does not exist."),
    ("parse", "depparse", "--conllu empty", "", "empty contains no sentences."),
    ("parse", "depparse", "--attention 2.0", "", "The encoder of the system tiny has no attention head 2.0: it has 2"),
    ("parse", "depparse", "--attention 1", "", "1 is not of the form LAYER.HEAD, for example 0.3"),
    ("parse", "depparse", "--argmax --roots one", "", "argument --roots: not allowed with argument --argmax"),
    ("parse", "plain", "", "", "The system tiny does not parse: none of its heads was trained to. Use a model of"),
    ("parse", "diagonal", "", "", "The system tiny has no artificial root, so its heads do not form trees: add --arg"),
    ("logprob", "plain", "one two", "", "two, line 2: the other text ends before this line: give one sentence per"),
    ("logprob", "plain", "absent one", "", "absent does not exist."),
]


@pytest.mark.parametrize(("command", "system", "options", "text", "sentence"), MISTAKES)
def test_mistakes_are_one_sentence_with_status_2(
    models, tmp_path, monkeypatch, command, system, options, text, sentence
):
    monkeypatch.chdir(tmp_path)
    for name, content in {"empty": "\n\n", "one": "the\n", "two": "the\ncat\n"}.items():
        Path(name).write_text(content)
    os.mkfifo("pipe")
    before = sorted(tmp_path.iterdir())
    output, errors = nmtcore(command, models[system], *options.split(), text=text, code=2)
    written = output.splitlines()[command == "logprob" :]  # without its header
    assert len(written) == ("line 2:" in sentence), "what is before the mistake"
    assert re.match(f"nmtcore {command}: .*{re.escape(sentence)}", errors.splitlines()[-1])
    assert sorted(tmp_path.iterdir()) == before


def test_a_closed_pipe_prints_no_error(model):
    command = f"yes 'the cat' | head -3000 | '{sys.executable}' -m nmtcore translate '{model}' --beam 1 | head -1"
    process = subprocess.run(["bash", "-c", command], capture_output=True, env=ENVIRONMENT, check=True)
    assert process.stderr == b""
    assert process.stdout.count(b"\n") == 1


def test_an_interrupt_prints_no_error(model):
    command = [sys.executable, "-m", "nmtcore", "translate", str(model)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=ENVIRONMENT) as process:
        # More than a chunk: at the first translation, the command is waiting for input or for its reader.
        process.stdin.write(b"the\n" * 4000)
        process.stdin.flush()
        process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        process.stdout.close()
        assert process.wait(timeout=60) in (130, 141)
        assert process.stderr.read() == b""


HELP = """
import contextlib, io, sys
from nmtcore.cli import main
for name in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.suppress(SystemExit):
        main([*([name] if name != "nmtcore" else []), "--help"])
    heavy = {"torch", "numpy", "pandas", "pyarrow", "spacy", "sacremoses"} & set(sys.modules)
    if heavy or not output.getvalue().startswith("usage: nmtcore"):
        sys.exit(f"{name}: {heavy or output.getvalue()}")
"""


def test_help_imports_no_heavy_packages():
    names = ("translate", "parse", "score", "logprob", "show", "export", "new", "check", "schema", "results")
    process = subprocess.run([sys.executable, "-c", HELP, "nmtcore", *names], capture_output=True, check=False)
    assert process.returncode == 0, process.stderr.decode()


def test_log_probabilities_have_a_line_per_pair(model, tmp_path):
    source, target = tmp_path / "text.en", tmp_path / "text.de"
    source.write_text("the cat\n\ndog\n")
    target.write_text("a cat\nthe dog\n漢 dog\n")
    output, errors = nmtcore("logprob", model, source, target)
    header, *rows = (line.split("\t") for line in output.splitlines())
    assert header == ["log_probability", "per_token", "tokens", "unknown"]
    assert [row[2:] for row in rows] == [["3", "0"], ["", ""], ["3", "1"]]
    assert rows[1][:2] == ["", ""]
    for total, mean, tokens, _ in (rows[0], rows[2]):
        assert float(total) < 0
        assert float(mean) * int(tokens) == pytest.approx(float(total), abs=1e-5)
    assert errors == (
        f"{source}: lines without words, or with too many, so without a score: 1.\n"
        f"{target}: lines with subwords that the vocabulary lacks, scored as <unk>: 1.\n"
    )


@pytest.fixture
def full(monkeypatch):
    """Simulate a memory with room for two sentences per batch."""
    encode = Transformer.encode

    def encoded(self, batch, **options):
        if len(batch.source_BS) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return encode(self, batch, **options)

    monkeypatch.setattr(Transformer, "encode", encoded)


TEXT = "the cat\nthe dog\nthe\n"
FULL = "The GPU's memory is full (CUDA out of memory. Tried to allocate 2.00 GiB). "


@pytest.mark.parametrize("command", ["translate", "parse"])
def test_commands_print_the_advice_and_work_if_it_is_followed(full, models, tmp_path, command):
    """The setting of the run limits the sentences of a batch, for both commands."""
    assert call_nmtcore(command, models["depparse"], text=TEXT) == (2, "", f"nmtcore {command}: {FULL}{ON_GPU}\n")
    run = run_settings(DepParseSettings(layer=1), decoding=DecodingSettings(batch_sentences=2))
    output, _ = nmtcore(command, write_bundle(tmp_path / "model", run), text=TEXT.encode())
    assert output.count("\n") == {"translate": 3, "parse": 14}[command]
