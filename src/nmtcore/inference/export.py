"""Trained models for serving elsewhere: a bundle as a folder that another library reads, and how to segment text.

model.bin, config.json, {shared,source,target}_vocabulary.json   the model, as CTranslate2 reads it
codes, {side}.codes        the codes files of the segmentation (subword-nmt's format)
nmtcore.json               how to make the model's input from text, how to search, and text from its output
README.md                  the same for people
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.config.corpora import SIDES
from nmtcore.config.runs import RunSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.errors import UserError
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.files import atomic_folder, write_json, write_text
from nmtcore.inference.bundle import Bundle, load_bundle, segmentation_files
from nmtcore.inference.ctranslate2_model import check_exportable, write_model
from nmtcore.inference.export_readme import export_readme
from nmtcore.inference.raw import MAX_SUBWORDS
from nmtcore.inference.search import length_limits
from nmtcore.segmentation.segmenter import SEPARATOR, codes_name
from nmtcore.segmentation.vocabulary import EOS, PAD, SPECIALS
from nmtcore.training.attempts import code_version

EXPORT_FORMAT = 1
"""The version of nmtcore.json."""


def export_bundle(model: Path, folder: Path, *, licences: Sequence[Mapping[str, Any]] | None = None) -> None:
    """Write the bundle `model` to `folder` for CTranslate2, completely or not at all.

    `licences` are those of the training data (`reporting.licences_table.licence_entries`); None if unknown. Raises
    `UserError` if `folder` has files, or if translating with the model takes more than a transformer.
    """
    import ctranslate2

    folder = Path(folder).resolve()
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise UserError(f"{folder} exists: name a new folder to export to, or delete it first.")
    bundle = load_bundle(model)
    check_exportable(bundle.model, where=model)
    _check_transforms(bundle.run, where=model)
    about = describe(bundle, library=f"CTranslate2 {ctranslate2.__version__}", licences=licences)
    with atomic_folder(folder) as partial:
        write_model(
            bundle.model,
            partial,
            source_entries=bundle.source_vocabulary.entries,
            target_entries=bundle.target_vocabulary.entries,
            longest=about["longest"],
        )
        for name in segmentation_files(bundle.run):
            shutil.copyfile(Path(model) / name, partial / name)
        write_json(partial / "nmtcore.json", about)
        write_text(partial / "README.md", export_readme(about))
        os.replace(partial, folder)


def describe(bundle: Bundle, *, library: str, licences: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
    """Return what nmtcore.json says."""
    run, search = bundle.run, bundle.search_settings()
    prefix, suffix = source_frame(bundle)
    return {
        "format": EXPORT_FORMAT,
        "nmtcore": code_version()["version"],
        "library": library,
        **{key: getattr(run, key) for key in ("system", "dataset", "source", "target")},
        "words": {side: _words(run, side) for side in SIDES},
        "segmentation": {
            "kind": run.segmentation.kind,
            "codes": {side: codes_name(run.segmentation, side) for side in SIDES},
            "separator": SEPARATOR if run.segmentation.kind == "bpe" else None,
        },
        "reserved": list(SPECIALS),
        "source_prefix": bundle.source_vocabulary.tokens(prefix),
        "source_suffix": bundle.source_vocabulary.tokens(suffix),
        "output_tags": [entry for entry in bundle.target_vocabulary.entries if not bundle.transforms.strip([entry])],
        "search": {
            key: getattr(search, key)
            for key in ("beam", "length_penalty", "alpha", "max_length", "max_length_ratio", "max_length_extra")
        },
        "options": _options(search),
        "longest": _longest(search, len(prefix) + len(suffix)),
        "licences": None if licences is None else [dict(entry) for entry in licences],
    }


def source_frame(bundle: Bundle) -> tuple[list[int], list[int]]:
    """Return the ids before and after the subwords of every source, without `</s>`.

    Raises `UserError` if the transforms do more than that.
    """
    marks = [EOS], [EOS, PAD, EOS]
    short, longer = (bundle.transforms.for_translation(_unlabelled(mark)).source.ids.values.tolist() for mark in marks)
    first = short.index(EOS)
    before, after = short[:first], short[first + 1 :]
    if longer != [*before, *marks[1], *after]:
        raise UserError("The system's transforms change the order of the source, so the model cannot be exported.")
    return [*(i for component in bundle.model.components for i in component.source_prefix), *before], after


def _unlabelled(ids: list[int]) -> Examples:
    """Return one source sentence of words with one subword each."""
    words = Ragged.from_lists([range(len(ids))], "int32")
    return Examples(id=[0], source=SideExamples(ids=Ragged.from_lists([ids], "int32"), word_of_subword=words))


def _check_transforms(run: RunSettings, *, where: Path) -> None:
    for name, settings in run.transforms.items():
        if features := settings.needs.get("source", ()):
            raise UserError(
                f"{where} cannot be exported: its transform {name} reads the {' and '.join(features).replace('_', ' ')}"
                " of each source, which a plain transformer does not. `nmtcore translate` translates with it."
            )


def _words(run: RunSettings, side: str) -> dict[str, Any]:
    """Return how text becomes words, or words of the target become text."""
    words = run.text_words(side)
    return {
        "language": getattr(run, side),
        "tokeniser": words.kind,
        "normalise": words.normalise,
    }


def _options(search: DecodingSettings) -> dict[str, Any]:
    """Return the options of `Translator.translate_batch` that come closest to the model's own search.

    Its length penalty is n^alpha, n with `</s>`, as `fairseq` here. It has none of the form `gnmt`, which for long
    translations ranks as n^alpha does. Empty translations are allowed, as here, and no source is cut.
    """
    penalty = 0.0 if search.length_penalty == "none" else search.alpha
    return {"beam_size": search.beam, "length_penalty": penalty, "min_decoding_length": 0, "max_input_length": 0}


def _longest(search: DecodingSettings, added: int) -> int:
    """Return the number of positions that the longest source (`</s>` included) and translation take, rounded up."""
    (translation,) = length_limits(search, [MAX_SUBWORDS])
    return 1 << max(MAX_SUBWORDS + added, translation).bit_length()
