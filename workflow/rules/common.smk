# The configuration as the rules see it, and the paths that they share.
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from nmtcore.config.datasets import SIDES, SegmentationSettings
from nmtcore.config.project import NAME, Project
from nmtcore.config.runs import run_to_json
from nmtcore.config.targets import check_target, scale_of, scale_prefix
from nmtcore.config.typed import plain
from nmtcore.config.versions import VERSIONS
from nmtcore.errors import UserError


def explained(function):
    """Let a user's mistake reach Snakemake as a sentence, without a stack trace."""

    def call(*arguments, **options):
        try:
            return function(*arguments, **options)
        except UserError as error:
            raise WorkflowError(str(error)) from None

    return call


@explained
def load_project():
    own = Path(workflow.current_basedir.join("../../config").get_path_or_uri(secret_free=True)).resolve()
    project = Project(["config", own], config)
    for target in workflow.dag_settings.targets:
        check_target(project, target)
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
    return PROJECT.run(wildcards.dataset, wildcards.system, scale_of(wildcards.scale), seed)


@explained
def dataset_of(wildcards):
    return PROJECT.dataset(wildcards.dataset)


def dataset_param(*keys):
    """A params function: what of the data set a stage depends on, in a list so that Snakemake sees its changes."""
    return lambda wildcards: [dataset_of(wildcards).view(*keys)]


def feature_files(run, splits):
    """The features of `splits` that a run reads."""
    folder = f"{RESULTS}/{run.dataset}/features/{run.segmentation.name}"
    files = [f"{folder}/{split}.{side}.parquet" for split in splits for side in SIDES]
    for side, kinds in run.syntax.items():
        files += [f"{folder}/{split}.{side}.{annotator}.parquet" for split in splits for annotator in kinds.values()]
    return list(dict.fromkeys(files))


def annotation_files(run, splits):
    """The trees that a run's own trees are compared with."""
    return [
        f"{RESULTS}/{run.dataset}/annotation/{annotator}/{split}.source.parquet"
        for annotator in run.syntax.get("source", {}).values()
        for split in splits
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
        files += [f"{folder}/{split}.{side}.parquet" for split in dataset.splits for side in SIDES]
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
