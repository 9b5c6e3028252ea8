# The configuration as the rules see it, and the paths that they share.
from dataclasses import replace
from functools import cache, wraps
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from nmtcore.config.annotators import annotator_entry
from nmtcore.config.datasets import GOLD, SIDES
from nmtcore.config.filters import filter_name
from nmtcore.config.kinds import FEATURES
from nmtcore.config.models import model_at_hand
from nmtcore.config.project import NAME, SELECTION, Project
from nmtcore.config.runs import run_to_json
from nmtcore.config.targets import SCORES, check_target, scale_of, scale_prefix
from nmtcore.config.typed import choose, plain
from nmtcore.config.versions import VERSIONS
from nmtcore.corpus.download import missing_manual, planned_downloads
from nmtcore.errors import UserError
from nmtcore.job import gpu_here


def explained(function):
    """Let a user's mistake reach Snakemake as a sentence, without a stack trace."""

    @wraps(function)  # Snakemake asks for its parameters
    def call(*arguments, **options):
        try:
            return function(*arguments, **options)
        except UserError as error:
            raise WorkflowError(str(error)) from None

    return call


def load_project():
    """Read the configuration and check the targets; a mistake in them ends planning with its sentence alone."""
    own = Path(
        workflow.current_basedir.join("../../config").get_path_or_uri(secret_free=True)
    ).resolve()
    try:
        project = Project(["config", own], config)
        # Snakemake parses its targets only after this file; checked here, a typing error gets a sentence.
        for argument in sys.argv[1:]:
            check_target(project, argument)
    except UserError as error:
        # An exception would come with the places in this file.
        sys.exit(f"Error: {error}")
    return project


PROJECT = load_project()
SETTINGS = PROJECT.settings
RESULTS = SETTINGS.paths.results.rstrip("/")
DOWNLOADS = SETTINGS.paths.downloads.rstrip("/")
MANUAL = SETTINGS.paths.manual.rstrip("/")
LOGS = f"{RESULTS}/logs"
BENCHMARKS = f"{RESULTS}/benchmarks"
DATA = f"{RESULTS}/{{dataset}}"
RUN = f"{RESULTS}/{{scale}}{{dataset}}/{{system}}/seed{{seed}}"
GPUS = (
    SETTINGS.gpus
    if SETTINGS.device == "cuda" or (SETTINGS.device == "auto" and gpu_here())
    else 0
)
SCALES = [name for name in PROJECT.scale_names if name != "paper"]


wildcard_constraints:
    dataset=rf"(?!(?:{'|'.join(SCALES)})/){NAME}",
    scale=rf"(?:(?:{'|'.join(SCALES)})/)?",
    system=rf"(?!(?:corpus|annotation|segmentation|features)/){NAME}",
    split=NAME,
    side="source|target",
    annotator=rf"(?!{SELECTION}/){NAME}",
    other=NAME,
    segmentation=r"(?:words|bpe)(?:_joint)?_\d+(?:_parsing)?",
    seed=r"\d+",
    shard=r"\d+",
    shards=r"\d+",


@explained
def run_of(wildcards):
    """The run that a path names."""
    seed = int(getattr(wildcards, "seed", SETTINGS.seeds[0]))
    return PROJECT.run(
        wildcards.dataset, wildcards.system, scale_of(wildcards.scale), seed
    )


@explained
def dataset_of(wildcards):
    return PROJECT.dataset(wildcards.dataset)


def dataset_param(*keys):
    """A params function: what of the data set a stage depends on, in a list so that Snakemake sees its changes."""
    return lambda wildcards: [dataset_of(wildcards).view(*keys)]


@cache
@explained
def named_files():
    """Every file that a data set or a model names: its settings by who names it."""
    named = {}
    for dataset in PROJECT.dataset_files:
        for corpus, settings in PROJECT.dataset(dataset).corpora.items():
            for files in settings.files.values():
                for file in files:
                    named.setdefault(file.name, {})[f"{dataset}: {corpus}"] = file
    for model in PROJECT.model_files:
        for file in PROJECT.annotator_model(model).files:
            named.setdefault(file.name, {})[f"model {model}"] = file
    return named


@explained
def file_settings(name):
    """The settings of a file by its name; all that name it must mean the same file, if not the same member of it."""
    owners = {
        owner: without_member(file)
        for owner, file in named_files().get(name, {}).items()
    }
    if not owners:
        raise UserError(
            f"{DOWNLOADS}/{name}: neither a data set nor a model names this file."
        )
    if len(set(owners.values())) > 1:
        raise UserError(
            f"{', '.join(owners)} describe {name} differently: make them agree."
        )
    return next(iter(owners.values()))


def without_member(file):
    """Which member is read does not matter for fetching a file."""
    mirrors = tuple(replace(mirror, member=None) for mirror in file.mirrors)
    return replace(file, member=None, mirrors=mirrors)


TOLD = set()


@explained
def split_files(wildcards):
    """The downloaded files of a split; says at once which of them must be fetched by hand and are not there."""
    dataset = dataset_of(wildcards)
    choose(wildcards.split, dataset.splits, what="split", where=dataset.name)
    names = []
    for corpus in dict.fromkeys(
        part.corpus for part in dataset.splits[wildcards.split]
    ):
        for files in dataset.corpora[corpus].files.values():
            for file in files:
                names.append(f"{DOWNLOADS}/{file.name}")
                warn_missing(file)
    return list(dict.fromkeys(names))


def warn_missing(file):
    sentence = missing_manual(
        file, manual_folder=Path(MANUAL), mirror_roots=SETTINGS.mirrors
    )
    if (
        sentence
        and file.name not in TOLD
        and not os.path.exists(f"{DOWNLOADS}/{file.name}")
    ):
        TOLD.add(file.name)
        logger.warning(sentence)


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


@explained
def annotator_of(wildcards):
    """The settings of the data set's annotator of this name."""
    annotators = dataset_of(wildcards).annotators
    choose(wildcards.annotator, annotators, what="annotator", where=wildcards.dataset)
    return annotators[wildcards.annotator]


def annotator_memory(wildcards):
    """Megabytes: what Java may take, and what stands around it."""
    return max(6000, getattr(annotator_of(wildcards), "memory_mb", 0) + 2000)


@explained
def annotator_models(wildcards):
    """The files of an annotator's models that are neither at hand nor downloaded."""
    return model_files(annotator_of(wildcards))


def missing_models(settings):
    """The models of an annotator that are not at hand and that the workflow can download."""
    return [
        name
        for name in settings.models
        if name in PROJECT.model_files and not model_at_hand(name, SETTINGS.models)
    ]


def model_files(settings):
    return [
        f"{DOWNLOADS}/{file.name}"
        for name in missing_models(settings)
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


def feature_files(run, splits):
    """The features of `splits` that a run reads."""
    folder = f"{RESULTS}/{run.dataset}/features/{run.segmentation.name}"
    return [f"{folder}/{name}" for split in splits for name in run.feature_files(split)]


def annotation_files(run, splits):
    """The trees that a run's own trees are compared with."""
    annotator = run.syntax.get("source", {}).get("dependencies")
    folder = f"{RESULTS}/{run.dataset}/annotation"
    return [
        f"{folder}/{run.gold_annotator if split in run.gold else annotator}/{split}.source.parquet"
        for split in splits
        if annotator
    ]


def start_model(run):
    """The model whose weights a run starts from, where it does."""
    if run.start_from is None:
        return []
    folder = f"{RESULTS}/{scale_prefix(run.scale)}{run.dataset}/{run.start_from}"
    return [f"{folder}/seed{run.seed}/model"]


def label_files(run):
    """The label vocabularies that a run reads, by side and annotator."""
    return {
        side: {
            annotator: f"{RESULTS}/{run.dataset}/annotation/{annotator}/{side}.labels.json"
            for annotator in kinds.values()
        }
        for side, kinds in run.syntax.items()
    }


def segmentation_folder(dataset, name):
    """Where a data set's segmentation lies: in another one's folder, where it uses that."""
    owner = PROJECT.dataset(dataset).segmentation_from or dataset
    return f"{RESULTS}/{owner}/segmentation/{name}"


def configured_runs():
    """Every run that config.yaml asks for."""
    return [
        PROJECT.run(dataset, system, SETTINGS.scale, seed)
        for dataset in SETTINGS.datasets
        for system in SETTINGS.systems
        for seed in SETTINGS.seeds
    ]


@explained
def configured_scores():
    return [
        f"{RESULTS}/{scale_prefix(run.scale)}{run.dataset}/{run.system}.{ending}"
        for run in configured_runs()
        for ending in run.scores
    ]


def configured_results(score):
    """An input function: the results of a kind of score, of the configured systems that have it."""

    @explained
    def results(wildcards):
        return [
            path
            for path in dict.fromkeys(configured_scores())
            if path.endswith(f".{score}") and not path.endswith(f"gold.{score}")
        ]

    return results


@explained
def configured_histories(wildcards):
    """The training logs of the configured runs."""
    runs = configured_runs()
    if not runs:
        raise UserError(
            "A table of systems needs `datasets` and `systems` in config.yaml, or on the command line."
        )
    return [
        f"{RESULTS}/{scale_prefix(run.scale)}{run.dataset}/{run.system}/seed{run.seed}/training.jsonl"
        for run in runs
    ]


@explained
def configured_models():
    return [
        f"{RESULTS}/{scale_prefix(run.scale)}{run.dataset}/{run.system}/seed{run.seed}/model"
        for run in configured_runs()
    ]


ANNOUNCED = set()


def announce(datasets):
    """Say what must be downloaded for data sets, how much it is and under which licence, before anything starts."""
    names = tuple(dataset.name for dataset in datasets)
    if names in ANNOUNCED:
        return
    ANNOUNCED.add(names)
    files = {}
    for dataset in datasets:
        for corpus in used_corpora(dataset):
            licence = corpus.licence or dataset.licence
            for file in (file for files in corpus.files.values() for file in files):
                files.setdefault(file.name, (without_member(file), licence))
        for settings in dataset.annotators.values():
            for name in missing_models(settings):
                model = PROJECT.annotator_model(name)
                files |= {file.name: (file, model.licence) for file in model.files}
    for sentence in planned_downloads(
        files.values(),
        downloads=Path(DOWNLOADS),
        mirror_roots=SETTINGS.mirrors,
        manual_folder=Path(MANUAL),
        ask=None if workflow.dryrun else ask_length,
    ):
        logger.info(sentence)


def ask_length(url):
    """Ask a server for a file's length; a dry run works without a network."""
    from nmtcore.corpus.remote import asked_length

    return asked_length(url, SETTINGS.http_hosts)


def used_corpora(dataset):
    """The corpora of a data set's splits."""
    names = [part.corpus for parts in dataset.splits.values() for part in parts]
    return [dataset.corpora[name] for name in dict.fromkeys(names)]


def configured_datasets():
    return [PROJECT.dataset(name) for name in SETTINGS.datasets]


@explained
def configured_data(wildcards):
    """The token features of every split of the configured data sets, at the configured scale."""
    announce(configured_datasets())
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
    announce(configured_datasets())
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
    """The features of every annotator that gives a kind which features are made of."""
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
        if annotator_entry(settings)["tool"] == "existing"
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
    announce(configured_datasets())
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
