# What the corpus stage reads: files of data sets and models, other splits, truecasing models.
import os
from dataclasses import replace
from functools import cache

from nmtcore.config.changes import Tracked
from nmtcore.config.datasets import SIDES
from nmtcore.config.defaults import with_defaults
from nmtcore.config.depends import filtering_settings, reading_settings
from nmtcore.config.filters import FILTERS
from nmtcore.config.own_files import check_own_files, own_file_states
from nmtcore.config.stages import FilteringSettings, ReadingSettings
from nmtcore.config.typed import nearest, plain
from nmtcore.corpus.download import without_member
from nmtcore.errors import UserError


@cache
def named_files():
    """Every file to download that a data set or a model names: its settings by who names it.

    With it comes a sentence for each data set or model that cannot be read, which may not matter.
    """
    named, unread = {}, []

    def read(give, name, what):
        try:
            return getattr(give(name), what)
        except UserError as error:
            unread.append(str(error))
            return {}

    for dataset in PROJECT.dataset_files:
        for corpus, settings in read(PROJECT.dataset, dataset, "corpora").items():
            for files in settings.files.values():
                for file in (file for file in files if file.path is None):
                    named.setdefault(file.name, {})[f"{dataset}: {corpus}"] = file
    for model in PROJECT.model_files:
        for file in read(PROJECT.annotator_model, model, "files"):
            named.setdefault(file.name, {})[f"model {model}"] = file
    return named, list(dict.fromkeys(unread))


@explained
def file_settings(name):
    """The settings of a file by its name; all that name it must mean the same file, if not the same member of it."""
    named, unread = named_files()
    owners = {
        owner: without_member(file) for owner, file in named.get(name, {}).items()
    }
    if not owners:
        hint = " ".join(["Not read:", *unread]) if unread else nearest(name, named)
        raise UserError(
            f"{DOWNLOADS}/{name}: no data set or model names this file. {hint}"
        )
    if len(set(owners.values())) > 1:
        raise UserError(
            f"{', '.join(owners)} describe {name} differently: make them agree."
        )
    return next(iter(owners.values()))


def file_param(wildcards):
    """A params function: a file's settings, but for its approximate size, which does not decide what it is."""
    settings = replace(file_settings(wildcards.file), megabytes=None)
    return Tracked(plain(settings), with_defaults(settings, plain(settings)))


@explained
def split_files(wildcards):
    """The files of a split, downloaded or the user's own; a missing one of the user's ends planning."""
    dataset, split = split_of(wildcards)
    # A split that was read needs its files no longer.
    if not os.path.exists(f"{DATA}/corpus/raw/{{split}}.parquet".format(**wildcards)):
        check_own_files(dataset, where=PROJECT.dataset_files[dataset.name])
    names = []
    for corpus in dict.fromkeys(part.corpus for part in dataset.splits[split]):
        for files in dataset.corpora[corpus].files.values():
            names += [file.path or f"{DOWNLOADS}/{file.name}" for file in files]
    return list(dict.fromkeys(names))


def reading_param(wildcards):
    """A params function: what reading a split depends on.

    The state of the user's own files is a part of it: Snakemake would not notice that one was replaced by an older file.
    """
    settings = ReadingSettings.of(*split_of(wildcards))
    return Tracked(settings, reading_settings(settings) | own_file_states(settings))


def filtering_param(wildcards):
    """A params function: what filtering a split depends on."""
    settings = FilteringSettings.of(*split_of(wildcards))
    return Tracked(settings, filtering_settings(settings))


def other_splits(wildcards):
    """The splits that training pairs must not occur in, where the data set's filters say so."""
    dataset = dataset_of(wildcards)
    if wildcards.split != "train" or "held_out" not in map(
        FILTERS.name_of, dataset.filters
    ):
        return []
    return [
        f"{DATA}/corpus/raw/{split}.parquet".format(dataset=dataset.name)
        for split in dataset.tests
    ]


def filter_threads(wildcards):
    """Filters that guess languages share out their pairs; the others are faster than sharing them out."""
    names = map(FILTERS.name_of, dataset_of(wildcards).filters)
    return 2 if {"langdetect", "lingua"}.intersection(names) else 1


def truecasers(wildcards):
    """The truecasing models of the sides that have one."""
    dataset = dataset_of(wildcards)
    owner = dataset.segmentation_from or dataset.name
    return [
        f"{DATA}/corpus/truecase.{side}.txt".format(dataset=owner)
        for side in SIDES
        if dataset.words[side].truecase
    ]
