# The configuration as the rules see it, and the paths that they share.
from functools import wraps
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from nmtcore.config.annotators import annotator_entry
from nmtcore.config.datasets import SIDES
from nmtcore.config.filters import filter_name
from nmtcore.config.project import NAME, Project
from nmtcore.config.runs import run_to_json
from nmtcore.config.targets import check_target, scale_of, scale_prefix
from nmtcore.config.typed import choose, plain
from nmtcore.config.versions import VERSIONS
from nmtcore.corpus.download import missing_manual
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
    annotator=NAME,
    segmentation=r"(?:words|bpe)(?:_joint)?_\d+",
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


@explained
def file_settings(name):
    """The settings of a corpus file by its name; every data set that names it must mean the same file."""
    found = {}
    for dataset in PROJECT.dataset_files:
        for corpus in PROJECT.dataset(dataset).corpora.values():
            found |= {
                (dataset, f): f
                for files in corpus.files.values()
                for f in files
                if f.name == name
            }
    if not found:
        raise UserError(f"{DOWNLOADS}/{name}: no data set names this file.")
    if len(set(found.values())) > 1:
        raise UserError(
            f"The data sets {', '.join(d for d, _ in found)} describe {name} differently: make them agree."
        )
    return next(iter(found.values()))


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
    return names


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


@explained
def annotator_of(wildcards):
    """The settings of the data set's annotator of this name."""
    annotators = dataset_of(wildcards).annotators
    choose(wildcards.annotator, annotators, what="annotator", where=wildcards.dataset)
    return annotators[wildcards.annotator]


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
    files = [f"{folder}/{split}.{side}.parquet" for split in splits for side in SIDES]
    for side, kinds in run.syntax.items():
        files += [
            f"{folder}/{split}.{side}.{annotator}.parquet"
            for split in splits
            for annotator in kinds.values()
        ]
    return list(dict.fromkeys(files))


def annotation_files(run, splits):
    """The trees that a run's own trees are compared with."""
    return [
        f"{RESULTS}/{run.dataset}/annotation/{annotator}/{split}.source.parquet"
        for annotator in run.syntax.get("source", {}).values()
        for split in splits
    ]


def label_files(run):
    """The label vocabularies of the first annotator of each side that a run reads."""
    return [
        f"{RESULTS}/{run.dataset}/annotation/{next(iter(kinds.values()))}/{side}.labels.json"
        for side, kinds in run.syntax.items()
    ]


def segmentation_folder(run):
    return f"{RESULTS}/{run.dataset}/segmentation/{run.segmentation.name}"


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
        for ending in (["bleu", "uas"] if run.parses else ["bleu"])
    ]


@explained
def configured_models():
    return [
        f"{RESULTS}/{scale_prefix(run.scale)}{run.dataset}/{run.system}/seed{run.seed}/model"
        for run in configured_runs()
    ]


@explained
def configured_data():
    """The token features of every split of the configured data sets, at the configured scale."""
    scale, files = PROJECT.scale(SETTINGS.scale), []
    for dataset in map(PROJECT.dataset, SETTINGS.datasets):
        folder = f"{RESULTS}/{dataset.name}/features/{PROJECT.segmentation(dataset, scale).name}"
        files += [
            f"{folder}/{split}.{side}.parquet"
            for split in dataset.splits
            for side in SIDES
        ]
    return files


@explained
def configured_annotation():
    """The annotation of every split by every annotator that the configured data sets name."""
    return [
        f"{RESULTS}/{dataset.name}/annotation/{annotator}/{split}.{side}.parquet"
        for dataset in map(PROJECT.dataset, SETTINGS.datasets)
        for side, kinds in dataset.syntax.items()
        for annotator in dict.fromkeys(kinds.values())
        for split in dataset.splits
    ]
