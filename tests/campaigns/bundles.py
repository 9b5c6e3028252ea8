"""Damaged bundles: refused, or loaded and able to translate."""

from pathlib import Path
from random import Random

from campaigns.damage import damaged_bytes, damaged_json
from factories import run_settings
from inference.tiny import RECURRENT, write_bundle

from nmtcore.config.components import DepParseSettings, TagAttentionSettings
from nmtcore.inference.bundle import load_bundle

RUNS = (
    run_settings(), run_settings(DepParseSettings(layer=0)), run_settings(**RECURRENT),
    run_settings(TagAttentionSettings(), features={"target": {"ccg_tags": "easyccg"}}),
)  # fmt: skip


def attempt(random: Random, folder: Path) -> str:
    """Load a bundle of which a file was damaged, and translate with it."""
    bundle = write_bundle(folder / "model", random.choice(RUNS))
    path = random.choice(sorted(bundle.iterdir()))
    data, values = path.read_bytes(), random.random() < 0.7
    if values and path.suffix == ".json":
        path.write_bytes(damaged_json(data, random))
    elif values and path.suffix == ".safetensors":  # its header is JSON, after its length
        header, tensors = data[8:][: int.from_bytes(data[:8], "little")], data[8 + int.from_bytes(data[:8], "little") :]
        header = damaged_json(header, random)
        path.write_bytes(len(header).to_bytes(8, "little") + header + tensors)
    else:
        path.write_bytes(damaged_bytes(data, random))
    loaded = load_bundle(bundle)
    list(loaded.translate(["the cat the dog", "", "cat"], loaded.decoding_settings(max_length=5)))
    return "clean"
