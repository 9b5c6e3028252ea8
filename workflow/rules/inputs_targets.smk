# What the target rules and tables ask for.
from nmtcore.config.annotators import ANNOTATORS
from nmtcore.config.datasets import GOLD
from nmtcore.config.features import FEATURES
from nmtcore.layout import SELECTION
from nmtcore.errors import UserError


def configured_datasets():
    return [PROJECT.dataset(name) for name in SETTINGS.datasets]


@explained
def configured_data(wildcards):
    """The token features of every split of the configured data sets, at the configured scale."""
    return [
        file for dataset in configured_datasets() for file in token_features(dataset)
    ]


def token_features(dataset):
    name = PROJECT.segmentation(dataset, PROJECT.scale(SETTINGS.scale)).name
    folder = f"{RESULTS}/{dataset.name}/features/{name}"
    return [
        f"{folder}/{split}.{side}.parquet"
        for split in dataset.splits
        for side in dataset.sides(split)
    ]


@explained
def configured_annotation(wildcards):
    """Annotation and syntax features of every split by every annotator that the configured data sets use."""
    return [
        file
        for dataset in configured_datasets()
        for file in [*annotations(dataset), *syntax_features(dataset)]
    ]


def used_annotators(dataset):
    """The split, side and annotator of every annotation that a data set asks for."""
    return [
        (split, side, annotator)
        for split in dataset.splits
        for side in dataset.sides(split)
        for annotator in dict.fromkeys(dataset.syntax.get(side, {}).values())
    ]


def annotations(dataset):
    """Annotation files; linearised parses beside those that have constituents."""
    files = []
    for split, side, annotator in used_annotators(dataset):
        stem = f"{RESULTS}/{dataset.name}/annotation/{annotator}/{split}.{side}"
        files.append(f"{stem}.parquet")
        if "constituency" in dataset.kinds_of(annotator, side):
            files.append(f"{stem}.brackets.parquet")
    return files


def syntax_features(dataset):
    """The features of every annotator that gives a kind of annotation which features are made of."""
    name = PROJECT.segmentation(dataset, PROJECT.scale(SETTINGS.scale)).name
    made = {feature.annotation for feature in FEATURES.values()}
    return [
        f"{RESULTS}/{dataset.name}/features/{name}/{split}.{side}.{annotator}.parquet"
        for split, side, annotator in used_annotators(dataset)
        if made & set(dataset.kinds_of(annotator, side))
    ]


def comparisons(dataset):
    """Each parser against the treebanks that the data set names."""
    gold = [
        name
        for name, settings in dataset.annotators.items()
        if ANNOTATORS.name_of(settings) == "existing"
    ]
    return [
        f"{RESULTS}/{dataset.name}/annotation/{annotator}/{split}.{side}.against.{gold[0]}.json"
        for split, side, annotator in used_annotators(dataset)
        if gold and split.startswith(GOLD) and annotator != gold[0]
        if "dependencies" in dataset.kinds_of(annotator, side)
    ]


@explained
def configured_comparisons(wildcards):
    """Every parser of the configured data sets against their treebanks."""
    files = [file for dataset in configured_datasets() for file in comparisons(dataset)]
    if not files:
        raise UserError(
            f"None of {', '.join(SETTINGS.datasets)} has a treebank and a parser to compare with it."
        )
    return files


@explained
def configured_annotator_models(wildcards):
    """The models that the annotators of the configured data sets read and that must be downloaded."""
    return [
        file
        for dataset in configured_datasets()
        for settings in dataset.annotators.values()
        for file in model_files(settings)
    ]


@explained
def configured_reports(wildcards):
    """What reading, filtering and selecting the configured data sets report."""
    files = []
    for dataset in configured_datasets():
        folder = f"{RESULTS}/{dataset.name}"
        files += [f"{folder}/corpus/raw/{split}.json" for split in dataset.splits]
        files += [f"{folder}/corpus/{split}.json" for split in dataset.splits]
        if dataset.selection is not None:
            files.append(f"{folder}/annotation/{SELECTION}/train.json")
    return files


@explained
def configured_annotation_reports(wildcards):
    return [
        f"{RESULTS}/{dataset.name}/annotation/{annotator}/{split}.{side}.json"
        for dataset in configured_datasets()
        for split, side, annotator in used_annotators(dataset)
    ]


@explained
def configured_labels(wildcards):
    """The label vocabularies of the configured data sets."""
    return [
        f"{RESULTS}/{dataset.name}/annotation/{annotator}/{side}.labels.json"
        for dataset in configured_datasets()
        for split, side, annotator in used_annotators(dataset)
        if split == "train"
    ]


def published_sizes(what):
    """A params function: the published sizes of the configured data sets, in a plain mapping."""
    return lambda wildcards: {
        dataset.name: getattr(dataset.published, what)
        for dataset in configured_datasets()
    }
