"""Where the models of annotators come from: `config/models/NAME.yaml`, one file a model."""

from dataclasses import dataclass

from nmtcore.config.datasets import FileSettings


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """A parser's or tagger's files; the `name` of each is below `models/NAME/` of the downloads folder."""

    name: str
    description: str
    licence: str
    files: tuple[FileSettings, ...]
    citation: str = ""

    def __post_init__(self) -> None:
        for file in self.files:
            if not file.name.startswith(f"models/{self.name}/"):
                raise ValueError(f"the file {file.name} must be called models/{self.name}/...")
