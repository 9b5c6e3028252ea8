"""Dependency trees, tags, lemmas and constituents from Stanza (Qi et al. 2020), on tokenised text.

A model is a folder with one file per processor and the files that these need (`config/models/stanza_*.yaml` downloads
such folders):

    pos.pt, depparse.pt                      always
    lemma.pt                                 for lemmas
    constituency.pt                          if the settings enable constituents
    pretrain.pt                              word vectors, if the models were trained with them
    forward_charlm.pt, backward_charlm.pt    character language models, likewise
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Self

from nmtcore.annotation.base import AnnotationTask, Annotator, NumberedSentence, first_line
from nmtcore.annotation.models import find_model
from nmtcore.config.annotators import StanzaSettings
from nmtcore.errors import UserError
from nmtcore.files import system_temporary, temporary_folder
from nmtcore.syntax.annotation import Annotation, failed


class Stanza(Annotator):
    """A Stanza pipeline that gets words instead of raw text, and keeps each line one sentence."""

    def __init__(self, settings: StanzaSettings, task: AnnotationTask) -> None:
        self._settings = settings
        self._task = task
        self._nlp: Any = None
        self._threads = 1

    def __enter__(self) -> Self:
        constituency = self._settings.constituency
        folders, language = self._task.model_folders, self._task.language
        self._nlp = load_stanza_pipeline(self._settings.model, folders, language=language, constituency=constituency)
        import torch

        # Shards run in parallel, so several threads per shard are slower than one.
        self._threads = torch.get_num_threads()
        torch.set_num_threads(1)
        return self

    def __exit__(self, *error: object) -> None:
        import torch

        torch.set_num_threads(self._threads)
        self._nlp = None

    def annotate(self, sentences: Iterable[NumberedSentence]) -> Iterator[Annotation]:
        """Yield one annotation per sentence; only the sentence on which the pipeline crashes is null."""
        assert self._nlp is not None, "annotate is called inside `with`"
        sentences = iter(sentences)
        while batch := [sentence.words for sentence in islice(sentences, self._settings.batch_size)]:
            yield from _annotate_batch(self._nlp, batch)


def open_annotator(settings: StanzaSettings, task: AnnotationTask) -> Stanza:
    """Make the annotator; `with` loads its pipeline."""
    return Stanza(settings, task)


def load_stanza_pipeline(model: str, model_folders: Sequence[Path], *, language: str, constituency: bool) -> Any:
    """Load a folder of models as a `stanza.Pipeline`, without network access, on a GPU if there is one.

    Raises UserError if the folder or one of its models is missing, or if a model cannot be loaded.
    """
    # Models that need a transformer must find it on this machine.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        import stanza
        import torch
    except ImportError as error:
        raise UserError("Stanza needs the package stanza: pip install stanza.") from error
    folder = find_model(model, model_folders, description="Stanza model", holds=StanzaSettings.model_holds)
    paths = _model_paths(folder, constituency=constituency)
    with temporary_folder(system_temporary("nmtcore-stanza")) as temporary:
        # Stanza requires a list of its models; with an empty list it uses the paths of the options.
        resources = temporary / "resources.json"
        resources.write_text("{}", encoding="utf-8")
        try:
            return stanza.Pipeline(
                language,
                dir=str(folder),
                resources_filepath=str(resources),
                download_method=None,
                allow_unknown_language=True,
                tokenize_pretokenized=True,
                use_gpu=torch.cuda.is_available(),
                verbose=False,
                **_options(folder, paths),
            )
        except (MemoryError, UserError):
            raise
        except Exception as error:
            raise UserError(f"The Stanza models of {folder} cannot be loaded: {first_line(error)}") from error


def _model_paths(folder: Path, *, constituency: bool) -> dict[str, Path]:
    """Find the file of each processor. Raises UserError if one other than the lemmatiser's is missing."""
    processors = ("pos", "lemma", "depparse", *(("constituency",) if constituency else ()))
    paths = {processor: folder / f"{processor}.pt" for processor in processors}
    if not paths["lemma"].is_file():
        del paths["lemma"]
    for path in paths.values():
        if not path.is_file():
            raise UserError(f"The Stanza model {folder} has no {path.name}: add it, or name another model.")
    return paths


def _options(folder: Path, paths: Mapping[str, Path]) -> dict[str, Any]:
    """Return the pipeline's processors, the model file of each, and the files that each model was trained with."""
    processors = dict.fromkeys(("tokenize", "pos", "lemma", *paths))
    options: dict[str, Any] = {"processors": ",".join(processors), "lemma_use_identity": "lemma" not in paths}
    for processor, path in paths.items():
        options[f"{processor}_model_path"] = str(path)
        for foundation in _foundations(path):
            if not (file := folder / f"{foundation}.pt").is_file():
                # Stanza would give another error, or download another file.
                raise UserError(f"The Stanza model {path} was trained with {file.name}, which {folder} lacks: add it.")
            options[f"{processor}_{foundation}_path"] = str(file)
    return options


def _foundations(path: Path) -> list[str]:
    """Read from a model which of pretrain, forward_charlm and backward_charlm it was trained with."""
    import torch

    trained = torch.load(path, map_location="cpu", weights_only=True)
    if "params" in trained:
        config = trained["params"]["config"]
        vectors, characters = config.get("wordvec_pretrain_file"), config.get("charlm_forward_file")
    else:
        config = trained["config"]
        vectors, characters = config.get("pretrain"), config.get("charlm")
    return [*(["pretrain"] if vectors else []), *(["forward_charlm", "backward_charlm"] if characters else [])]


def _annotate_batch(nlp: Any, sentences: Sequence[Sequence[str]]) -> list[Annotation]:
    """Annotate sentences; after a crash, annotate each half alone, down to the faulty sentence."""
    try:
        return _run_pipeline(nlp, sentences)
    except MemoryError:
        raise
    except Exception as error:
        if len(sentences) == 1:
            return [failed(f"Stanza failed: {type(error).__name__}: {first_line(error)}")]
    half = len(sentences) // 2
    return [*_annotate_batch(nlp, sentences[:half]), *_annotate_batch(nlp, sentences[half:])]


def _run_pipeline(nlp: Any, sentences: Sequence[Sequence[str]]) -> list[Annotation]:
    from stanza import Document

    document = nlp(Document([[{"text": word} for word in words] for words in sentences]))
    lemmas, constituents = not nlp.processors["lemma"].use_identity, "constituency" in nlp.processors
    return [
        _read_sentence(parsed, words, lemmas=lemmas, constituents=constituents)
        for parsed, words in zip(document.sentences, sentences, strict=True)
    ]


def _read_sentence(parsed: Any, words: Sequence[str], *, lemmas: bool, constituents: bool) -> Annotation:
    if [word.text for word in parsed.words] != list(words):
        return failed("Stanza changed the words")
    return Annotation(
        lemma=[word.lemma or "_" for word in parsed.words] if lemmas else None,
        upos=[word.upos or "_" for word in parsed.words],
        xpos=[word.xpos or "_" for word in parsed.words],
        feats=[word.feats or "_" for word in parsed.words],
        head=[word.head for word in parsed.words],
        deprel=[word.deprel for word in parsed.words],
        # The tree on one line, with -LRB- and -RRB- for brackets in words.
        constituency=str(parsed.constituency) if constituents else None,
    )
