"""The files of annotators' models: entries of `config/models`."""

from nmtcore.config.corpora import FileSettings
from nmtcore.config.ranges import settings_class
from nmtcore.layout import MODELS, model_of


@settings_class
class AnnotatorModelSettings:
    """The files of a parser or tagger; the `name` of each begins with `models/NAME/`."""

    name: str
    """Name of the file."""
    description: str
    """A sentence that says what the model is."""
    files: tuple[FileSettings, ...]
    """Files of the model."""
    licence: str = ""
    """Licence."""
    citation: str = ""
    """What to cite."""

    def __post_init__(self) -> None:
        for file in self.files:
            if file.path is not None:
                raise ValueError(
                    "`path` is for corpora: put your own model into a folder that `models` in config.yaml lists"
                )
            if model_of(file.name) != self.name:
                raise ValueError(f"the file {file.name} must have a name like {MODELS}/{self.name}/...")
