"""Malicious models of parsers: programs that leave a mark if they run."""

import json
from pathlib import Path

MARK = "open(__import__('os').environ['MARK'], 'x').close()\n"
"""Python code that leaves the mark."""

PIPELINE = json.dumps({"lang": "en", "name": "x", "version": "1.0", "pipeline": ["parser"]})
"""The meta.json of a spaCy pipeline."""

# A pickle of protocol 0 that runs os.system('touch "$MARK"')
PICKLE = b"cos\nsystem\n(S'touch \"$MARK\"'\ntR."


def plant_model(folder: Path, tool: str) -> Path:
    """Write a model of the tool that leaves the mark; return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if tool in ("corenlp", "easyccg"):
        (folder / {"corenlp": "stanford-corenlp-4.jar", "easyccg": "easyccg.jar"}[tool]).touch()
        (folder / "categories").touch()
    elif tool == "stanza":
        for name in ("pos", "lemma", "depparse"):
            (folder / f"{name}.pt").write_bytes(PICKLE)
    elif tool == "udpipe":
        (folder / "model.udpipe").write_bytes(b"no model")
    else:
        plant_package(folder)
    return folder


def plant_package(folder: Path, *, meta: str | None = PIPELINE) -> None:
    """Write an installed package with a function `load`, pip's metadata, and a spaCy plug-in.

    `meta` is the text of its meta.json; None writes no meta.json.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = folder.name
    (folder / "__init__.py").write_text(f"{MARK}def load(**overrides):\n    {MARK}")
    if meta is not None:
        (folder / "meta.json").write_text(meta)
    info = folder.parent / f"{name}-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[spacy_models]\n{name} = {name}\n[spacy_factories]\nparser = {name}:load\n"
    )
