"""Scores by metrics that are commands: a process of the workflow, which calls one in the environment of its job.

Call: python -m nmtcore.evaluation.outside METRIC OUTPUT --model PATH --device DEVICE --hypotheses FOLDER... --pairs
FILE... . The folders and files are those of a run's tests, in the same order. The output is a JSON file with the
`signature` that the command wrote, or an empty one, and `scores`, a number per sentence of all tests.
"""

import argparse
import json
import math
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nmtcore.config.metrics import CommandMetric, command_metric
from nmtcore.errors import UserError, quoted
from nmtcore.evaluation.scores import output_files, read_translations
from nmtcore.evaluation.subsets import read_translated
from nmtcore.files import write_json


def sentence_table(hypotheses: Sequence[Path], pairs: Sequence[Path]) -> Iterator[dict[str, str]]:
    """Yield the source, translation and reference of each sentence of some tests, one test after the other."""
    for folder, corpus in zip(hypotheses, pairs, strict=True):
        files = output_files(folder)
        translations, references = read_translations(files.translations, files.references)
        sources = read_translated(corpus, "source", sentences=len(references))
        for source, translation, reference in zip(sources, translations, references, strict=True):
            yield {"source": source, "translation": translation, "reference": reference}


def score_by_command(
    metric: CommandMetric, sentences: Sequence[dict[str, str]], *, model: str, device: str
) -> dict[str, Any]:
    """Call a metric for some sentences; return its `signature` and `scores`. Its messages go to standard error.

    Raises `UserError` if it fails, or does not write one finite number for each sentence.
    """
    command = metric.settings.command.replace("{model}", shlex.quote(model)).replace("{device}", device)
    environment = dict(os.environ)
    if metric.environment is not None and metric.environment.is_dir():
        environment["PATH"] = f"{metric.environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
    last = ""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as table, tempfile.TemporaryFile() as numbers:
        table.writelines(json.dumps(sentence, ensure_ascii=False) + "\n" for sentence in sentences)
        table.seek(0)
        streams = {"stdin": table, "stdout": numbers, "stderr": subprocess.PIPE}
        call = ["bash", "-o", "pipefail", "-c", command]
        with subprocess.Popen(call, cwd=metric.folder, env=environment, **streams, errors="replace") as process:
            for line in process.stderr:
                print(line, end="", file=sys.stderr, flush=True)
                last = line.strip() or last
        if process.returncode:
            said = f" and said last: {last}" if last else ""
            raise UserError(f"{metric.where}: the command ended with status {process.returncode}{said}")
        numbers.seek(0)
        lines = numbers.read().decode("utf-8", "replace").splitlines()
    signature = next((line[1:].strip() for line in lines if line.startswith("#")), "")
    return {"signature": signature, "scores": read_numbers(lines, count=len(sentences), where=metric.where)}


def read_numbers(lines: Sequence[str], *, count: int, where: str) -> list[float]:
    """Read a number per line, without those that begin with #. Raises `UserError` if they are not `count` finite ones.

    `where` is the file that has the command.
    """
    scored = [(number, line) for number, line in enumerate(lines, 1) if not line.startswith("#")]
    values = []
    for number, line in scored:
        try:
            values.append(float(line))
        except ValueError:
            values.append(math.nan)
        if not math.isfinite(values[-1]):
            raise UserError(
                f"{where}: line {number} of what the command wrote is {quoted(line)}, not a finite number: let it "
                "write nothing but a number per sentence, and messages to standard error."
            )
    if len(values) != count:
        raise UserError(
            f"{where}: the command wrote {len(values):,} numbers for {count:,} sentences: let it write one for each "
            "line that it reads, also for an empty translation."
        )
    return values


def main() -> None:
    """Score the tests of a run, as the module says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("metric", type=command_metric)
    parser.add_argument("output", type=Path)
    parser.add_argument("--model")
    parser.add_argument("--device")
    parser.add_argument("--hypotheses", nargs="+", type=Path)
    parser.add_argument("--pairs", nargs="+", type=Path)
    chosen = parser.parse_args()
    try:
        sentences = list(sentence_table(chosen.hypotheses, chosen.pairs))
        scored = score_by_command(chosen.metric, sentences, model=chosen.model, device=chosen.device)
        write_json(chosen.output, scored)
    except UserError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
