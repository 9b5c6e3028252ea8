"""Dependency trees, tags, lemmas and constituents from Stanza (Qi et al. 2020), on tokenised text.

A model is a folder with one file per processor and the files that these need (`config/models/stanza_*.yaml` downloads
such folders):

    pos.pt, depparse.pt                      always
    lemma.pt                                 for lemmas
    constituency.pt                          if the settings enable constituents
    pretrain.pt                              word vectors, if the models were trained with them
    forward_charlm.pt, backward_charlm.pt    character language models, likewise
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nmtcore.annotation.base import Annotator, NumberedSentence, environment, first_line, token_columns
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation

COLUMNS = ("lemma", "upos", "xpos", "feats", "deprel")
"""Columns of the annotation that are attributes of Stanza's words."""


class Stanza(Annotator):
    """A Stanza pipeline that gets words instead of raw text, and keeps each line one sentence."""

    name = "Stanza"

    def load(self) -> None:
        """Load the pipeline, without network access, on a GPU if there is one.

        Raises UserError if the folder or one of its models is missing, or if a model cannot be loaded.
        """
        try:
            # Models that need a transformer must find it on this machine.
            with environment(HF_HUB_OFFLINE="1"):
                import stanza
            import torch
        except ImportError as error:
            raise UserError("Stanza needs the package stanza: pip install stanza.") from error
        folder = self.find_model()
        with TemporaryDirectory(prefix="nmtcore-stanza-") as temporary, environment(HF_HUB_OFFLINE="1"):
            # Stanza requires a list of its models; with an empty list it uses the paths of the options.
            resources = Path(temporary, "resources.json")
            resources.write_text("{}", encoding="utf-8")
            try:
                self._model = stanza.Pipeline(
                    self.task.language,
                    dir=str(folder),
                    resources_filepath=str(resources),
                    download_method=None,
                    allow_unknown_language=True,
                    tokenize_pretokenized=True,
                    use_gpu=torch.cuda.is_available(),
                    verbose=False,
                    **_options(folder, constituency=self.settings.constituency),
                )
            except (MemoryError, UserError):
                raise
            except Exception as error:
                raise UserError(f"The Stanza models of {folder} cannot be loaded: {first_line(error)}") from error

    def parse(self, sentences: Sequence[NumberedSentence]) -> list[Annotation]:
        """Run the pipeline on a batch."""
        import torch
        from stanza import Document

        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # shards run in parallel, so several threads per shard are slower than one
        try:
            document = self._model(Document([[{"text": word} for word in words] for _, words in sentences]))
        finally:
            torch.set_num_threads(threads)
        self.check_count(document.sentences, sentences)
        return [self._read(parsed, words) for parsed, (_, words) in zip(document.sentences, sentences, strict=True)]

    def _read(self, parsed: Any, words: Sequence[str]) -> Annotation:
        self.check_words([word.text for word in parsed.words], words)
        columns = token_columns(parsed.words, {column: column for column in COLUMNS})
        if self._model.processors["lemma"].use_identity:
            del columns["lemma"]
        # The tree is on one line, with -LRB- and -RRB- for brackets in words.
        constituency = str(parsed.constituency) if self.settings.constituency else None
        return Annotation(head=[word.head for word in parsed.words], constituency=constituency, **columns)


def _options(folder: Path, *, constituency: bool) -> dict[str, Any]:
    """Return the pipeline's processors, the model file of each, and the files that each model was trained with.

    Raises UserError if a file other than the lemmatiser's is missing.
    """
    processors = ("pos", "lemma", "depparse", *(["constituency"] if constituency else []))
    has_lemmas = (folder / "lemma.pt").is_file()
    options: dict[str, Any] = {"processors": ",".join(("tokenize", *processors)), "lemma_use_identity": not has_lemmas}
    for processor in processors if has_lemmas else (name for name in processors if name != "lemma"):
        path = folder / f"{processor}.pt"
        if not path.is_file():
            raise UserError(f"The Stanza model {folder} has no {path.name}: add it, or name another model.")
        options[f"{processor}_model_path"] = str(path)
        for foundation in _foundations(path):
            if not (file := folder / f"{foundation}.pt").is_file():
                # Stanza would give another error, or download another file.
                raise UserError(f"The Stanza model {path} was trained with {file.name}, which {folder} lacks: add it.")
            options[f"{processor}_{foundation}_path"] = str(file)
    return options


def _foundations(path: Path) -> list[str]:
    """Read from a model, without its weights, which of pretrain and the two character models it was trained with."""
    import torch

    trained = torch.load(path, map_location="meta", weights_only=True)
    if "params" in trained:
        config, names = trained["params"]["config"], ("wordvec_pretrain_file", "charlm_forward_file")
    else:
        config, names = trained["config"], ("pretrain", "charlm")
    vectors, characters = map(config.get, names)
    return [*(["pretrain"] if vectors else []), *(["forward_charlm", "backward_charlm"] if characters else [])]
