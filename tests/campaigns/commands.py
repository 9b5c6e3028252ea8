"""The command line on damaged folders and files: an answer or a sentence, and no other exit status."""

import contextlib
import io
import json
from pathlib import Path
from random import Random

from campaigns.damage import damaged_bytes, damaged_value
from campaigns.run import WrongOutput
from reporting.recorded_runs import layout_of, write_run

from nmtcore.cli import main
from nmtcore.errors import UserError

LINES = [f"ein Satz mit der Nummer {i} ." for i in range(12)]


def attempt(random: Random, folder: Path) -> str:
    """Damage a file of a results folder or a text, and call a command that reads it."""
    for seed in (1, 2):
        write_run(layout_of(folder), "base", seed)
    write_run(layout_of(folder), "other")
    texts = {name: folder / f"{name}.txt" for name in ("ref", "hyp", "hyp2", "dev", "test")}
    for path in texts.values():
        path.write_text("".join(f"{line}\n" for line in LINES))
    results = str(folder / "results")
    pair = [str(texts["ref"]), str(texts["hyp"])]
    command, read = random.choice((
        (["results", results], "scores.json"),
        (["checklist", results], "scores.json"),
        (["score", str(texts["ref"]), str(texts["hyp"]), str(texts["hyp2"])], "hyp.txt"),
        (["new", "dataset", "mine", "--folder", str(folder / "mine"), "--source", "de", "--target", "en", "--train",
          *pair, "--dev", *[str(texts["dev"])] * 2, "--test", *[str(texts["test"])] * 2], "hyp.txt"),
    ))  # fmt: skip
    path = random.choice(sorted(folder.rglob(read)))
    if path.suffix == ".json" and random.random() < 0.6:
        path.write_text(json.dumps(damaged_value(json.loads(path.read_text()), random)))
    else:
        path.write_bytes(damaged_bytes(path.read_bytes(), random))
    output, errors = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            main(command)
    except SystemExit as exit_:
        message = errors.getvalue()
        if exit_.code != 2 or not message.startswith("nmtcore "):
            raise WrongOutput(f"status {exit_.code}: {message}") from exit_
        raise UserError(message.partition(": ")[2]) from exit_
    output.flush()
    if not output.buffer.tell():
        raise WrongOutput(f"{command} says nothing")
    return "clean"
