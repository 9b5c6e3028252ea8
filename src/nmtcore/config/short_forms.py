"""Expand the short forms in the file of a data set."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nmtcore.config.corpora import SIDES
from nmtcore.config.datasets import METRIC_NAMES, DatasetSettings
from nmtcore.config.own_files import read_with_paths
from nmtcore.config.typed import build, choose


def full_form(name: str, values: Mapping[str, Any], shared: Mapping[str, Path], *, where: str) -> DatasetSettings:
    """Expand the short forms in a data set's file and build the settings.

    If the splits name a corpus that `corpora` does not define, it is read from the `shared` corpora. A null for a key,
    a split, a corpus, an annotator, or for a side or an annotation in `syntax` drops the extended data set's value.
    """
    values = _without_nulls(values) | {"name": name}
    for key in ("corpora", "annotators", "syntax"):
        if isinstance(values.get(key), Mapping):
            values[key] = _without_nulls(values[key])
    if isinstance(values.get("syntax"), Mapping):
        values["syntax"] = {
            side: _without_nulls(annotators) if isinstance(annotators, Mapping) else annotators
            for side, annotators in values["syntax"].items()
        }
    if isinstance(values.get("splits"), Mapping):
        values["splits"] = _without_nulls(values["splits"])
        if isinstance(values.setdefault("corpora", {}), Mapping):
            values["corpora"] = {**_shared_corpora(values, shared), **values["corpora"]}
    if isinstance(values.get("corpora"), Mapping):
        languages = {language: side for side in SIDES if isinstance(language := values.get(side), str)}
        values["corpora"] = {key: _expand_corpus(corpus, languages) for key, corpus in values["corpora"].items()}
    dataset = build(DatasetSettings, values, where=where)
    for metric in dataset.evaluation.metrics:
        choose(metric, METRIC_NAMES.valid, noun="metric", where=f"{where}: evaluation: metrics")
    return dataset


def _without_nulls(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _shared_corpora(values: Mapping[str, Any], shared: Mapping[str, Path]) -> dict[str, Any]:
    """Read the shared corpora that the splits name and `corpora` does not define."""
    splits = values["splits"].values()
    parts = [part for parts in splits for part in (parts if isinstance(parts, list) else [parts])]
    names = [part.get("corpus") if isinstance(part, Mapping) else part for part in parts]
    return {
        name: read_with_paths(shared[name])
        for name in names
        if isinstance(name, str) and name in shared and name not in values["corpora"]
    }


def _expand_corpus(corpus: Any, languages: Mapping[str, str]) -> Any:
    """Replace language codes by sides in the keys of `files`."""
    if not isinstance(corpus, Mapping) or not isinstance(corpus.get("files"), Mapping):
        return corpus
    return {**corpus, "files": {languages.get(role, role): files for role, files in corpus["files"].items()}}
