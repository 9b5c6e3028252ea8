# What the corpus stage reads: files of data sets and models, other splits, truecasing models.
from dataclasses import replace
from functools import cache

from nmtcore.config.changes import Tracked
from nmtcore.config.datasets import SIDES
from nmtcore.config.filters import filter_name
from nmtcore.config.own_files import check_own_files, own_file_states
from nmtcore.config.typed import choose, nearest, plain
from nmtcore.corpus.download import without_member
from nmtcore.errors import UserError

UNREAD = []


@cache
def named_files():
    """Every file to download that a data set or a model names: its settings by who names it.

    `UNREAD` gets a sentence for each data set or model that cannot be read.
    """
    named = {}
    for dataset in PROJECT.dataset_files:
        for corpus, settings in readable(PROJECT.dataset, dataset, "corpora").items():
            for files in settings.files.values():
                for file in (file for file in files if file.path is None):
                    named.setdefault(file.name, {})[f"{dataset}: {corpus}"] = file
    for model in PROJECT.model_files:
        for file in readable(PROJECT.annotator_model, model, "files"):
            named.setdefault(file.name, {})[f"model {model}"] = file
    return named


def readable(read, name, what):
    """One thing of a data set or model; nothing where it cannot be read, which may not matter."""
    try:
        return getattr(read(name), what)
    except UserError as error:
        UNREAD.append(str(error))
        return {}


@explained
def file_settings(name):
    """The settings of a file by its name; all that name it must mean the same file, if not the same member of it."""
    owners = {
        owner: without_member(file)
        for owner, file in named_files().get(name, {}).items()
    }
    if not owners:
        unread = " ".join(["Not read:", *dict.fromkeys(UNREAD)] if UNREAD else [])
        raise UserError(
            f"{DOWNLOADS}/{name}: no data set or model names this file. {unread or nearest(name, named_files())}"
        )
    if len(set(owners.values())) > 1:
        raise UserError(
            f"{', '.join(owners)} describe {name} differently: make them agree."
        )
    return next(iter(owners.values()))


def file_param(wildcards):
    """A params function: a file's settings, without about how much it is, which says nothing of what it is."""
    values = plain(replace(file_settings(wildcards.file), megabytes=None))
    return Tracked(values, values)


@explained
def split_files(wildcards):
    """The files of a split, downloaded or the user's own; says at once which of the latter are missing."""
    dataset = dataset_of(wildcards)
    choose(wildcards.split, dataset.splits, what="split", where=dataset.name)
    check_own_files(dataset, where=PROJECT.dataset_files[dataset.name])
    names = []
    for corpus in dict.fromkeys(
        part.corpus for part in dataset.splits[wildcards.split]
    ):
        for files in dataset.corpora[corpus].files.values():
            for file in files:
                if file.path is not None:
                    names.append(file.path)
                    continue
                names.append(f"{DOWNLOADS}/{file.name}")
    return list(dict.fromkeys(names))


def own_files_of(wildcards):
    """A params function: size and time of a split's own files, as one may be replaced by an older one."""
    return own_file_states(dataset_of(wildcards), wildcards.split)


def other_splits(wildcards):
    """The splits that training pairs must not occur in, where the data set's filters say so."""
    dataset = dataset_of(wildcards)
    if wildcards.split != "train" or "held_out" not in map(
        filter_name, dataset.filters
    ):
        return []
    return [
        f"{DATA}/corpus/raw/{split}.parquet".format(dataset=dataset.name)
        for split in dataset.tests
    ]


def filter_threads(wildcards):
    """Filters that guess languages share out their pairs; the others are faster than sharing them out."""
    names = map(filter_name, dataset_of(wildcards).filters)
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
