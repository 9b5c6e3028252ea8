"""The types of the values in a manifest, by which reading checks them; keys that no reader needs may be missing."""

from typing import Literal

from typing_extensions import TypedDict


class ManifestNames(TypedDict):
    """The keys that every manifest has."""

    format: int
    status: Literal["complete", "unscored", "interrupted"]
    scale: str
    dataset: str
    system: str
    seed: int


class ManifestCode(TypedDict):
    """A version of the code."""

    version: str
    commit: str | None
    lock_sha256: str | None


class ManifestCodes(TypedDict):
    """The code that trained, and the code that wrote the manifest."""

    training: ManifestCode | None


class ManifestDevice(TypedDict):
    """The device of training."""

    name: str
    gpus: int
    threads: int


class ManifestTraining(TypedDict):
    """A summary of the training log."""

    updates: int
    seconds: float
    tokens_per_second: float | None
    best_validation: dict[str, float | None] | None


class ManifestStages(TypedDict):
    """Seconds of the stages of the data, and of the jobs of the run, with their speeds."""

    data: dict[str, float | None]
    jobs: dict[str, dict[str, float]]


class ManifestFile(TypedDict):
    """A file of a corpus, of a model or of translations."""

    name: str
    url: str | None
    sha256: str | None


class ManifestFiles(TypedDict):
    """Files under one licence."""

    licence: str
    files: tuple[ManifestFile, ...]


class ManifestCorpus(ManifestFiles):
    """A corpus, and the splits that are made from it."""

    corpus: str
    splits: tuple[str, ...]
    citation: str


class ManifestModels(ManifestFiles):
    """The models of an annotator."""

    annotator: str
    tool: str
    models: tuple[str, ...]
    citation: str


class ManifestData(TypedDict):
    """The data set."""

    description: str
    licence: str
    citation: str
    source: str
    target: str
    splits: dict[str, dict[str, int | None]]
    corpora: tuple[ManifestCorpus, ...]
    models: tuple[ManifestModels, ...]


class Manifest(ManifestNames, total=False):
    """A manifest; that of an interrupted run has less, and what is not known is None. Other keys stay as they are."""

    __pydantic_config__ = {"extra": "allow"}  # noqa: RUF012

    code: ManifestCodes | None
    packages: dict[str, str | None] | None
    device: ManifestDevice | None
    energy_joules: dict[Literal["cpu", "gpu"], float | None] | None
    external: str | None
    translations: ManifestFiles | None
    parameters: int | None
    training: ManifestTraining | None
    stages: ManifestStages | None
    scores: dict[str, dict[str, float]] | None
    signatures: dict[str, str] | None
    data: ManifestData | None
