"""Dependency trees, tags, lemmas and constituents by Stanza (Qi et al. 2020), on words that are cut already.

A model is a folder with a file a processor, and what these build on (`config/models/stanza_*.yaml` fetches such ones):

    pos.pt, depparse.pt                      always
    lemma.pt                                 without it there are no lemmas
    constituency.pt                          where the settings ask for constituents
    pretrain.pt                              word vectors, where the models were trained with them
    forward_charlm.pt, backward_charlm.pt    character models, likewise
"""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Self

from nmtcore.annotation.base import AnnotationTask, Annotator, NumberedSentence
from nmtcore.annotation.models import find_model
from nmtcore.config.annotators import StanzaSettings
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation, failed


class Stanza(Annotator):
    """A pipeline that is given words, never raw text, and keeps a line one sentence."""

    def __init__(self, settings: StanzaSettings, task: AnnotationTask) -> None:
        self._settings = settings
        self._task = task
        self._nlp: Any = None
        self._threads = 1

    def __enter__(self) -> Self:
        constituency = self._settings.constituency
        folders, language = self._task.model_folders, self._task.language
        self._nlp = load_pipeline(self._settings.model, folders, language=language, constituency=constituency)
        import torch

        # Shards are the unit of parallel work: several threads in each are slower than one.
        self._threads = torch.get_num_threads()
        torch.set_num_threads(1)
        return self

    def __exit__(self, *error: object) -> None:
        import torch

        torch.set_num_threads(self._threads)
        self._nlp = None

    def annotate(self, sentences: Iterable[NumberedSentence]) -> Iterator[Annotation]:
        """Yield one annotation a sentence; one on which the pipeline crashes is null, its neighbours are not."""
        assert self._nlp is not None, "annotate is called inside `with`"
        sentences = iter(sentences)
        while some := [sentence.words for sentence in islice(sentences, self._settings.batch_size)]:
            yield from _annotate(self._nlp, some)


def open_annotator(settings: StanzaSettings, task: AnnotationTask) -> Stanza:
    """Make the annotator; its pipeline is loaded when entered by `with`."""
    return Stanza(settings, task)


def load_pipeline(model: str, model_folders: Sequence[Path], *, language: str, constituency: bool) -> Any:
    """Load a folder of models as a `stanza.Pipeline` that asks no network; on a GPU where there is one.

    A folder that is not there, lacks a model or has one that cannot be loaded is a `UserError`.
    """
    # Transformers that a model may stand on: only those that are on this machine.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        import stanza
        import torch
    except ImportError as error:
        raise UserError("Stanza needs the package stanza: pip install stanza.") from error
    folder = find_model(model, model_folders, what="Stanza model", holds=StanzaSettings.model_holds)
    paths = _model_paths(folder, constituency=constituency)
    with tempfile.TemporaryDirectory() as name:
        # Stanza insists on a list of its models: an empty one makes it take the paths that it is given.
        resources = Path(name) / "resources.json"
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
            raise UserError(f"The Stanza models of {folder} cannot be loaded: {_first_line(error)}") from error


def _model_paths(folder: Path, *, constituency: bool) -> dict[str, Path]:
    """Find the file of each processor."""
    wanted = ("pos", "lemma", "depparse", *(("constituency",) if constituency else ()))
    paths = {processor: folder / f"{processor}.pt" for processor in wanted}
    if not paths["lemma"].is_file():
        del paths["lemma"]
    for path in paths.values():
        if not path.is_file():
            raise UserError(f"The Stanza model {folder} has no {path.name}: add it, or name a model that has one.")
    return paths


def _options(folder: Path, paths: Mapping[str, Path]) -> dict[str, Any]:
    """Give the pipeline's processors, the file of each, and of what each was trained with."""
    processors = dict.fromkeys(("tokenize", "pos", "lemma", *paths))
    options: dict[str, Any] = {"processors": ",".join(processors), "lemma_use_identity": "lemma" not in paths}
    for processor, path in paths.items():
        options[f"{processor}_model_path"] = str(path)
        for foundation in _foundations(path):
            if not (file := folder / f"{foundation}.pt").is_file():
                # Stanza would say something else, or fetch what it holds for the same.
                raise UserError(f"The Stanza model {path} was trained with {file.name}, which {folder} lacks: add it.")
            options[f"{processor}_{foundation}_path"] = str(file)
    return options


def _foundations(path: Path) -> list[str]:
    """Read from a model what it was trained with."""
    import torch

    trained = torch.load(path, map_location="cpu", weights_only=True)
    if "params" in trained:
        config = trained["params"]["config"]
        vectors, characters = config.get("wordvec_pretrain_file"), config.get("charlm_forward_file")
    else:
        config = trained["config"]
        vectors, characters = config.get("pretrain"), config.get("charlm")
    return [*(["pretrain"] if vectors else []), *(["forward_charlm", "backward_charlm"] if characters else [])]


def _annotate(nlp: Any, sentences: Sequence[Sequence[str]]) -> list[Annotation]:
    try:
        return _run(nlp, sentences)
    except MemoryError:
        raise
    except Exception as error:
        if len(sentences) == 1:
            return [failed(f"Stanza failed: {type(error).__name__}: {_first_line(error)}")]
    half = len(sentences) // 2
    return [*_annotate(nlp, sentences[:half]), *_annotate(nlp, sentences[half:])]


def _run(nlp: Any, sentences: Sequence[Sequence[str]]) -> list[Annotation]:
    from stanza import Document

    document = nlp(Document([[{"text": word} for word in words] for words in sentences]))
    lemmas, constituents = not nlp.processors["lemma"].use_identity, "constituency" in nlp.processors
    return [
        _annotation(found, words, lemmas=lemmas, constituents=constituents)
        for found, words in zip(document.sentences, sentences, strict=True)
    ]


def _annotation(found: Any, words: Sequence[str], *, lemmas: bool, constituents: bool) -> Annotation:
    if [word.text for word in found.words] != list(words):
        return failed("Stanza changed the words")
    return Annotation(
        lemma=[word.lemma or "_" for word in found.words] if lemmas else None,
        upos=[word.upos or "_" for word in found.words],
        xpos=[word.xpos or "_" for word in found.words],
        feats=[word.feats or "_" for word in found.words],
        head=[word.head for word in found.words],
        deprel=[word.deprel for word in found.words],
        # On one line; brackets in words are -LRB- and -RRB-.
        constituency=str(found.constituency) if constituents else None,
    )


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or ["(no message)"])[0]
