"""Damaged bundles: refused, or loaded and able to translate."""

import json
from pathlib import Path
from random import Random

from campaigns.damage import damaged_bytes, damaged_value
from factories import run_settings
from inference.tiny import RECURRENT, write_bundle

from nmtcore.config.components.settings import DepParseSettings
from nmtcore.inference.bundle import load_bundle


def attempt(random: Random, folder: Path) -> str:
    """Load a bundle of which a file was damaged, and translate with it."""
    runs = run_settings(), run_settings(DepParseSettings(layer=0)), run_settings(**RECURRENT)
    bundle = write_bundle(folder / "model", random.choice(runs))
    path = random.choice(sorted(bundle.iterdir()))
    if path.suffix == ".json" and random.random() < 0.7:
        values = json.loads(path.read_text())
        for _ in range(random.choice((1, 1, 2))):
            values = damaged_value(values, random)
        path.write_text(json.dumps(values))
    else:
        path.write_bytes(damaged_bytes(path.read_bytes(), random))
    loaded = load_bundle(bundle)
    list(loaded.translate(["the cat the dog", "", "cat"], loaded.decoding_settings(max_length=5)))
    return "clean"
