# What annotation and features read: models of parsers, selections, labels, shards.
from nmtcore.config.annotators import ANNOTATORS
from nmtcore.config.changes import Tracked
from nmtcore.config.defaults import with_defaults
from nmtcore.config.models import model_at_hand
from nmtcore.layout import SELECTION
from nmtcore.config.typed import choose, plain
from nmtcore.errors import UserError


@explained
def annotator_of(wildcards):
    """The settings of the data set's annotator of this name."""
    annotators = dataset_of(wildcards).annotators
    choose(wildcards.annotator, annotators, what="annotator", where=wildcards.dataset)
    return annotators[wildcards.annotator]


def annotator_param(wildcards):
    """A params function: an annotator's settings."""
    settings = annotator_of(wildcards)
    entry = ANNOTATORS.entry_of(settings)
    changed = with_defaults(settings, entry)
    return Tracked(entry, {"annotators": {wildcards.annotator: changed}})


def selection_param(wildcards):
    """A params function: what of the training split is used."""
    selection = dataset_of(wildcards).selection
    return Tracked(plain(selection), with_defaults(selection, plain(selection)))


def annotator_memory(wildcards):
    """Megabytes: what Java may take, and what stands around it."""
    return max(6000, getattr(annotator_of(wildcards), "memory_mb", 0) + 2000)


@explained
def annotator_models(wildcards):
    """The files of an annotator's models that are neither at hand nor downloaded."""
    return model_files(annotator_of(wildcards))


def models_to_fetch(settings):
    """The models of an annotator that are not at hand and that the workflow can fetch."""
    tool = ANNOTATORS.name_of(settings)
    return [
        name
        for name in settings.models
        if name in PROJECT.model_files
        and not model_at_hand(name, SETTINGS.own_model_folders, tool=tool)
    ]


def model_files(settings):
    return [
        f"{DOWNLOADS}/{file.name}"
        for name in models_to_fetch(settings)
        for file in PROJECT.annotator_model(name).files
    ]


def selection_file(wildcards):
    """The rows of the training split that are used, where the data set selects some."""
    dataset = dataset_of(wildcards)
    if dataset.selection is None or getattr(wildcards, "split", "train") != "train":
        return []
    return [f"{DATA}/annotation/{SELECTION}/train.parquet".format(dataset=dataset.name)]


def selection_annotations(wildcards):
    """The annotations of the training split without which a pair is not used."""
    dataset = dataset_of(wildcards)
    if dataset.selection is None:
        return []
    return [
        f"{RESULTS}/{dataset.name}/annotation/{dataset.syntax[side][kind]}/train.{side}.parquet"
        for side, kinds in dataset.selection.parsed.items()
        for kind in kinds
    ]


@explained
def brackets_file(wildcards):
    """The linearised parses of a split's sources, where its sources are to be parsed as well as translated."""
    split = getattr(wildcards, "split", "train")
    if not wildcards.segmentation.endswith("_parsing") or split not in ("train", "dev"):
        return []
    dataset = dataset_of(wildcards)
    annotator = dataset.syntax.get("source", {}).get("constituency")
    if annotator is None:
        raise UserError(
            f"{dataset.name}: {wildcards.segmentation} needs constituency on the source side: name its annotator in "
            "the data set's `syntax`."
        )
    return [
        f"{RESULTS}/{dataset.name}/annotation/{annotator}/{split}.source.brackets.parquet"
    ]


@explained
def kinds_of(wildcards):
    """The kinds of annotation that an annotator is used for on a side of a split."""
    annotator_of(wildcards)
    kinds = dataset_of(wildcards).kinds_of(
        wildcards.annotator, wildcards.side, wildcards.split
    )
    if not kinds:
        raise UserError(
            f"{wildcards.dataset}: the annotator {wildcards.annotator} is not used on the {wildcards.side} side: "
            "name it in the data set's `syntax`."
        )
    return list(kinds)


def labels_of_features(wildcards):
    """The labels that features are numbered by: those of the training split, also for the trees of treebanks."""
    dataset, annotator = dataset_of(wildcards), wildcards.annotator
    if not dataset.kinds_of(annotator, wildcards.side):
        annotator = dataset.syntax.get(wildcards.side, {}).get(
            "dependencies", annotator
        )
    return (
        f"{RESULTS}/{dataset.name}/annotation/{annotator}/{wildcards.side}.labels.json"
    )


def shard_files(wildcards):
    """The shards of a split's annotation: the training split has as many as the annotator says, the others one."""
    shards = annotator_of(wildcards).shards if wildcards.split == "train" else 1
    name = f"{DATA}/annotation/{{annotator}}/shards/{{split}}.{{side}}".format(
        **wildcards
    )
    return [f"{name}.{shard}-of-{shards}.parquet" for shard in range(shards)]
