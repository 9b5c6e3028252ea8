"""Scores by metrics that are commands: a process of the workflow, which calls one in the environment of its job.

Call: python -m nmtcore.evaluation.outside METRIC OUTPUT MODEL DEVICE SLOTS FOLDER... FILE... . The slots are those of
GPUs (`nmtcore.gpus`). The folders have the translations of a run's tests, the files the pairs of these, in the same
order. The output is a JSON file with the `signature` that the command wrote, or an empty one, and `scores`, a number
per sentence of all tests.
"""

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

from nmtcore.config.files import REPOSITORY
from nmtcore.config.metrics import command_metric, metric_file
from nmtcore.config.registry import own_config
from nmtcore.errors import UserError, quoted
from nmtcore.evaluation.scores import output_files, read_translations
from nmtcore.evaluation.subsets import read_translated
from nmtcore.files import write_json
from nmtcore.gpus import use_gpus


def sentence_table(hypotheses: Sequence[Path], pairs: Sequence[Path]) -> Iterator[dict[str, str]]:
    """Yield the source, translation and reference of each sentence of some tests, one test after the other."""
    for folder, corpus in zip(hypotheses, pairs, strict=True):
        files = output_files(folder)
        translations, references = read_translations(files.translations, files.references)
        sources = read_translated(corpus, "source", sentences=len(references))
        for texts in zip(sources, translations, references, strict=True):
            yield dict(zip(("source", "translation", "reference"), texts, strict=True))


def score_by_command(name: str, sentences: Sequence[dict[str, str]], *, model: str, device: str) -> dict[str, Any]:
    """Call a metric for some sentences; return its `signature` and `scores`. Its messages go to standard error.

    Raises `UserError` if it fails, or does not write one finite number for each sentence.
    """
    metric, last = command_metric(name), ""
    command = metric.command.replace("{device}", device)
    for key, path in (("{model}", model), ("{repository}", str(REPOSITORY))):
        command = command.replace(key, shlex.quote(path))
    search = f"{metric.environment}/bin{os.pathsep}" if metric.environment else ""  # of conda's file, there is none
    environment = os.environ | {"PATH": search + os.environ["PATH"]}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as table, tempfile.TemporaryFile() as numbers:
        table.writelines(json.dumps(sentence, ensure_ascii=False) + "\n" for sentence in sentences)
        table.seek(0)
        options = {"stdin": table, "stdout": numbers, "stderr": subprocess.PIPE, "errors": "replace"}
        call, folder = ["bash", "-o", "pipefail", "-c", command], own_config()
        with subprocess.Popen(call, cwd=folder if folder.is_dir() else None, env=environment, **options) as process:
            for line in process.stderr:
                print(line, end="", file=sys.stderr, flush=True)
                last = line.strip() or last
        if process.returncode:
            said = f" and said last: {last}" if last else f": try it by hand in the folder {folder}."
            raise UserError(f"{metric_file(name)}: the command ended with status {process.returncode}{said}")
        numbers.seek(0)
        lines = numbers.read().decode("utf-8", "replace").splitlines()
    signature = next((line[1:].strip() for line in lines if line.startswith("#")), "")
    return {"signature": signature, "scores": read_numbers(lines, count=len(sentences), where=metric_file(name))}


def read_numbers(lines: Sequence[str], *, count: int, where: Path) -> list[float]:
    """Read a number per line, without those that begin with #. Raises `UserError` if they are not `count` finite ones.

    `where` is the file that has the command.
    """
    values = []
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            continue
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


if __name__ == "__main__":
    name, output, model, device, slots, *paths = sys.argv[1:]
    use_gpus(int(slots), log=lambda line: print(line, file=sys.stderr, flush=True))
    tests = [list(map(Path, paths[half:][: len(paths) // 2])) for half in (0, len(paths) // 2)]
    try:
        write_json(output, score_by_command(name, list(sentence_table(*tests)), model=model, device=device))
    except UserError as error:
        sys.exit(str(error))
