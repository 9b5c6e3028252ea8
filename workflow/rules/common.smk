# The configuration as the rules see it, and the paths that they share.
from dataclasses import replace
from functools import wraps
from pathlib import Path

from snakemake.exceptions import WorkflowError

from nmtcore.config.annotators import annotator_entry
from nmtcore.config.project import NAME, SELECTION, Project
from nmtcore.config.runs import run_to_json
from nmtcore.config.targets import SCORES, check_target, scale_of
from nmtcore.config.typed import plain
from nmtcore.config.versions import VERSIONS
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
    table=rf"(?:{NAME}/)?",


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
    """A params function: what of the data set a split depends on, in a list so that Snakemake sees its changes."""
    return lambda wildcards: [dataset_of(wildcards).view(*keys, split=wildcards.split)]
