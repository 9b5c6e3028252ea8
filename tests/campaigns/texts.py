"""Odd and damaged text for the command line: as many lines out as in, or a sentence."""

from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp

from campaigns.damage import damaged_bytes
from campaigns.run import WrongOutput
from inference.tiny import write_bundle

from nmtcore.inference.bundle import Bundle, load_bundle


@cache
def _bundle() -> Bundle:
    return load_bundle(write_bundle(Path(mkdtemp(prefix="campaign-")) / "model"))


def attempt(random: Random, folder: Path) -> str:
    """Translate damaged lines."""
    lines = [
        " ".join(random.choices(["the", "cat", "dog", "ca", "x", "ö", "日本"], k=random.randrange(8))) for _ in range(9)
    ]
    data = damaged_bytes("".join(f"{line}\n" for line in lines).encode(), random)
    # A word of 100,000 characters is translated in 100 parts; two words in place of it save that in most cases.
    if random.random() < 0.9:
        data = data.replace(b"x" * 100_000, b"x" * 500)
    path = folder / "in.txt"
    path.write_bytes(data)
    with path.open("rb") as file:
        outputs = list(_bundle().translate(file, _bundle().decoding_settings(max_length=5)))
    expected = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    if len(outputs) != expected or any("\n" in line for line in outputs):
        raise WrongOutput(f"{len(outputs)} lines for {expected}")
    return "clean"
