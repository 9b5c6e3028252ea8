"""One run from its features to its scores: what the workflow's scripts, torchrun and nobody else put together.

Stands to the right of all stages, so that training can validate by translating without importing inference.
"""

import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TextIO

import torch
from torch import nn

from nmtcore.annotation.labels import read_labels
from nmtcore.config.datasets import SIDES
from nmtcore.config.kinds import FEATURES
from nmtcore.config.runs import RunSettings, run_from_json
from nmtcore.corpus.words import Words
from nmtcore.errors import UserError, explained
from nmtcore.evaluation.attachment import attachment, is_punctuation
from nmtcore.evaluation.bleu import score_text
from nmtcore.evaluation.lines import run_lines
from nmtcore.features.examples import Examples, by_annotator, concatenated, load_examples
from nmtcore.features.tasks import ROWS_OF_A_PAIR, rows_of_first, translations
from nmtcore.files import read_json, write_json, write_lines, write_text
from nmtcore.inference.beam import Hypothesis
from nmtcore.inference.bundle import load_bundle, load_start, save_bundle
from nmtcore.inference.parse import WAYS, Parse, parse_examples, write_parses
from nmtcore.inference.translate import translate_and_parse, translate_examples
from nmtcore.model.build import build_model
from nmtcore.model.device import check_gpus, choose_device
from nmtcore.parquet import read_rows
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary
from nmtcore.training.distributed import Abandoned
from nmtcore.training.fingerprint import checkpoint_folder, hash_files
from nmtcore.training.loop import train


@dataclass(frozen=True, kw_only=True)
class TrainingJob:
    """What a training process is told, as plain values; paths are relative to the working directory."""

    run: dict[str, Any]
    features: str
    """The folder of the data set's features under the run's segmentation."""
    segmentation: str
    labels: dict[str, dict[str, str]]
    """Files of label vocabularies by side and annotator, where components read trees."""
    dev_corpus: str
    checkpoints: str
    model: str
    """The bundle to write."""
    history: str
    """The log to write, JSON lines."""
    device: str
    gpus: int
    threads: int
    start: str | None = None
    """The bundle of `run.start_from`, which gives the first weights."""


def launch(job: TrainingJob, *, terminal: TextIO | None = None) -> None:
    """Train in this process, or with several GPUs in one process for each; progress is shown on `terminal`."""
    if job.gpus == 1 or choose_device(job.device) == "cpu":
        train_run(job, terminal=terminal)
        return
    check_gpus(job.gpus)
    train_together(job)


def train_together(job: TrainingJob) -> None:
    """Train in `job.gpus` processes under torchrun, which share the job's threads.

    Raises a `UserError` when they fail, with the sentence of the process that failed if it left one.
    """
    specification = Path(job.checkpoints) / "job.json"
    write_json(specification, asdict(replace(job, threads=max(1, job.threads // job.gpus))))
    reason = _reason(specification)
    reason.unlink(missing_ok=True)
    status = _run_forwarding_signals(torchrun(specification, processes=job.gpus))
    if status and reason.exists():
        raise UserError(reason.read_text(encoding="utf-8").strip())
    if status:
        raise UserError(f"Training in {job.gpus} processes stopped with status {status}: see above.")


_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)
"""Signals that torchrun forwards to the trainers."""
_SAVING = 240
"""Seconds from a signal until torchrun kills the trainers: Slurm gives five minutes, torchrun by itself only 30 s."""


def torchrun(specification: Path, *, processes: int) -> list[str]:
    """Give the command that does a `TrainingJob`, written as JSON in a file, in several processes of this machine."""
    handled = ",".join(signal.Signals(number).name for number in _FORWARDED)
    command = [sys.executable, "-m", "nmtcore.training.torchrun", "--standalone", f"--nproc-per-node={processes}"]
    command += [f"--signals-to-handle={handled}", f"--shutdown-timeout={_SAVING}"]
    return [*command, "-m", "nmtcore.experiment", str(specification)]


def _reason(specification: Path) -> Path:
    """Give the path where a process that fails leaves its sentence."""
    return specification.with_name("job.failed.txt")


def _run_forwarding_signals(command: Sequence[str]) -> int:
    """Run a command that gets every signal of `_FORWARDED` that this process gets; give its status."""
    # `python -m`, here and in torchrun, would look for modules in the working directory first.
    process = subprocess.Popen(command, env=os.environ | {"PYTHONSAFEPATH": "1"})
    before = {number: signal.signal(number, lambda got, _: process.send_signal(got)) for number in _FORWARDED}
    try:
        return process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def train_run(job: TrainingJob, *, terminal: TextIO | None = None) -> None:
    """Train one run from its features and write its bundle and log; goes on from its last checkpoint."""
    torch.set_num_threads(job.threads)
    run, segmentation = run_from_json(job.run, where="the training job"), Path(job.segmentation)
    examples, files = _training_data(run, Path(job.features))
    files += sorted(path for path in segmentation.iterdir() if path.is_file())
    files += [Path(job.start, "bundle.json")] if job.start else []
    vocabularies = {side: Vocabulary.load(segmentation / f"{side}.vocab") for side in SIDES}
    labels = run_labels(run, job.labels)
    main = os.environ.get("RANK", "0") == "0"
    checkpoints = checkpoint_folder(Path(job.checkpoints), run, data=hash_files(files), log=print if main else _silent)

    torch.manual_seed(run.seed)
    sizes = {f"{side}_size": len(vocabulary) for side, vocabulary in vocabularies.items()}
    model = build_model(run, **sizes, labels=labels or None)
    if job.start:
        load_start(model, Path(job.start), segmentation=segmentation)
    treebanks = [examples[split] for split in run.treebanks]
    train(
        run,
        model,
        examples.get("train"),
        examples["dev"],
        treebank=concatenated(treebanks) if treebanks else None,
        folder=Path(job.history).parent,
        checkpoints=checkpoints,
        validate=_validator(run, examples["dev"], vocabularies["target"], segmentation, Path(job.dev_corpus)),
        device=choose_device(job.device),
        terminal=terminal,
    )
    if main:
        save_bundle(Path(job.model), run=run, model=model, segmentation=segmentation, labels=labels or None)


def _silent(_: str) -> None:
    """Say nothing: the first of several processes speaks."""


def _training_data(run: RunSettings, folder: Path) -> tuple[dict[str, Examples], list[Path]]:
    """Load what a run trains on and validates with, and name the files."""
    examples = {split: load_split(run, folder, split) for split in run.training_splits}
    return examples, [folder / name for split in run.training_splits for name in run.feature_files(split)]


def load_split(run: RunSettings, folder: Path, split: str, *, target: bool = True) -> Examples:
    """Load what a run reads of a split, the targets only where they are asked for and there.

    A scale's limit counts pairs, also where they stand for two tasks: so systems share what they are compared on.
    """
    target, pairs = target and "target" in run.sides_of(split), run.sentences.of(split)
    if pairs is None or not run.segmentation.parsing:
        return load_examples(folder, split, syntax=run.syntax_of(split), limit=pairs, target=target)
    examples = load_examples(folder, split, limit=ROWS_OF_A_PAIR * pairs, target=target)
    return examples.head(rows_of_first(pairs, examples.id))


def run_labels(run: RunSettings, files: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, list[str]]]:
    """Read the label vocabularies of what a run reads, by side; each kind's from the file of its annotator.

    `files` gives their paths by side and annotator.
    """
    labels: dict[str, dict[str, list[str]]] = {}
    for side, kinds in run.syntax.items():
        labels[side] = {}
        for annotator, features in by_annotator(kinds).items():
            found = read_labels(Path(files[side][annotator]))
            labels[side] |= {name: found[name] for feature in features for name in FEATURES[feature].labels}
    return labels


class Output:
    """From the ids of a hypothesis to the text that scores are computed on, and the references to match."""

    def __init__(self, run: RunSettings, vocabulary: Vocabulary, segmenter: Segmenter) -> None:
        self._run, self._vocabulary, self._segmenter = run, vocabulary, segmenter
        self._words = Words(run.text_words("target"), run.target)

    def text(self, hypothesis: Hypothesis) -> str:
        """Detokenise, or join tokens by spaces, as the data set's evaluation asks for; either way detruecased."""
        words = self._segmenter.words(self._vocabulary.tokens(hypothesis.tokens))
        detokenised = self._run.evaluation.text == "detokenised"
        return self._words.join(words) if detokenised else " ".join(self._words.restored(words))

    def references(self, corpus: Path, count: int) -> list[str]:
        """Read the references of the first `count` pairs of a split: texts, or their tokens as they were cut.

        What is truecased in the corpus is cut anew from the text, since detruecasing does not bring every word back;
        only given words, which no text tells, are detruecased.
        """
        if self._run.evaluation.text == "detokenised":
            return [row["target"] for row in read_rows(corpus, columns=["target"], stop=count)]
        if self._words.settings.truecase and self._run.words["target"].kind != "given":
            rows = read_rows(corpus, columns=["target"], stop=count)
            return [" ".join(self._words.split(row["target"])) for row in rows]
        rows = read_rows(corpus, columns=["target_words"], stop=count)
        return [" ".join(self._words.restored(row["target_words"])) for row in rows]

    def scores(self, hypotheses: Sequence[str], references: Sequence[str]) -> dict[str, Any]:
        """Score as the data set's evaluation asks for."""
        evaluation = self._run.evaluation
        return score_text(
            hypotheses,
            references,
            tokenize=evaluation.tokenize,
            lowercase=evaluation.lowercase,
            text=evaluation.text,
        )


def _validator(
    run: RunSettings, dev: Examples, vocabulary: Vocabulary, segmentation: Path, corpus: Path
) -> Callable[[nn.Module], dict[str, float]] | None:
    """Make the function that training calls to score the development set; None where perplexity is enough."""
    if run.training.validation.metric == "perplexity":
        return None
    output = Output(run, vocabulary, Segmenter.load(segmentation, run.segmentation, "target"))
    dev = dev.take(translations(dev.id))
    references = output.references(corpus, len(dev))
    settings = replace(run.decoding, beam=run.training.validation.beam)

    def validate(model: nn.Module) -> dict[str, float]:
        best = [hypotheses[0] for hypotheses in translate_examples(model, dev, settings)]
        return {"bleu": output.scores(list(map(output.text, best)), references)["bleu"]}

    return validate


def evaluate(
    run: RunSettings,
    *,
    model: Path,
    features: Path,
    corpora: Mapping[str, Path],
    trees: Mapping[str, Path],
    hypotheses: Path,
    scores: Path,
    device: str,
    threads: int,
) -> list[str]:
    """Translate, parse and score every test split of a run, with one process; return the scores as lines.

    Writes {split}.txt and, where the system parses, {split}.parquet into the folder `hypotheses`, and all numbers into
    `scores` (JSON): bleu, and uas where the system parses, by split.
    """
    torch.set_num_threads(threads)
    bundle = load_bundle(model, choose_device(device))
    output = Output(run, bundle.target_vocabulary, bundle.target_segmenter)
    result = _named(run) | {"bleu": {}, **({"uas": {}} if run.parses else {})}
    with explained(hypotheses):
        hypotheses.mkdir(parents=True, exist_ok=True)
    for split in run.tests:
        examples = load_split(run, features, split, target=False)
        examples = examples.take(translations(examples.id))
        found, parses = translate_and_parse(bundle.model, examples, run.decoding)
        texts = [output.text(best[0]) for best in found]
        write_lines(hypotheses / f"{split}.txt", texts)
        result["bleu"][split] = output.scores(texts, output.references(corpora[split], len(examples)))
        if parses is not None:
            write_parses(hypotheses / f"{split}.parquet", examples.id, parses)
            result["uas"][split] = score_parses(parses, corpora[split], trees.get(split), roots=run.evaluation.roots)
    write_json(scores, result)
    return run_lines(result, scores.parent)


def _named(run: RunSettings) -> dict[str, Any]:
    """Say whose scores a file has."""
    return {key: getattr(run, key) for key in ("dataset", "system", "scale", "seed")}


def evaluate_gold(
    run: RunSettings,
    *,
    model: Path,
    features: Path,
    corpora: Mapping[str, Path],
    trees: Mapping[str, Path],
    parses: Path,
    scores: Path,
    device: str,
    threads: int,
) -> list[str]:
    """Parse every gold treebank of a run and compare its trees with the treebank's, `trees`; return scores as lines.

    Writes {split}.parquet into the folder `parses`, and gold.uas by split into `scores` (JSON).
    """
    torch.set_num_threads(threads)
    bundle = load_bundle(model, choose_device(device))
    found = {}
    with explained(parses):
        parses.mkdir(parents=True, exist_ok=True)
    for split in run.gold:
        examples = load_split(run, features, split)
        predicted = parse_examples(bundle.model, examples, batch_sentences=run.decoding.batch_sentences)
        write_parses(parses / f"{split}.parquet", examples.id, predicted)
        found[split] = score_parses(predicted, corpora[split], trees[split], roots=run.evaluation.roots)
    result = _named(run) | {"gold.uas": found}
    write_json(scores, result)
    return run_lines(result, scores.parent)


def score_parses(
    parses: Sequence[Parse], corpus: Path, trees: Path | None, *, roots: Literal["one", "many"] = "one"
) -> dict[str, Any]:
    """Score predicted heads against a parser's or a treebank's trees of the source side: argmax and spanning trees.

    `spanning_tree` is the one with as many `roots` as the data set's trees have. Without `trees` the right head of a
    word is the previous one, and of the first word itself (`diagonalparse`).
    """
    words = [row["source_words"] for row in read_rows(corpus, columns=["source_words"], stop=len(parses))]
    if trees is None:
        gold = [[max(1, word) for word in range(len(sentence))] for sentence in words]
        marks = [is_punctuation(sentence) for sentence in words]
    else:
        rows = list(read_rows(trees, columns=["head", "upos"], stop=len(parses)))
        gold = [row["head"] for row in rows]
        marks = [is_punctuation(sentence, row["upos"]) for sentence, row in zip(words, rows, strict=True)]
    ways = {"argmax": "argmax"}
    if trees is not None:
        ways["spanning_tree"] = WAYS[roots]
        ways |= {"one_root": "one_root", "many_roots": "many_roots"}
    return {name: attachment([_heads(getattr(p, way)) for p in parses], gold, marks) for name, way in ways.items()}


def _heads(heads: Any) -> list[int]:
    return [int(head) for head in heads]


def run_process(arguments: Sequence[str]) -> None:
    """Run one process of a distributed training (`torchrun -m nmtcore.experiment job.json`).

    A process that fails also leaves its sentence beside the file, for `train_together`, unless another failed first.
    """
    specification = Path(arguments[0])
    try:
        train_run(TrainingJob(**read_json(specification)))
    except UserError as error:
        print(error, file=sys.stderr)
        if not isinstance(error, Abandoned):
            write_text(_reason(specification), f"{error}\n")
        _leave_at_once()
    except Exception:
        traceback.print_exc()
        _leave_at_once()


def _leave_at_once() -> None:
    """End with status 1, without torch's clean-up: that would abort the process, or wait for the other processes.

    They in turn wait for the end of this one.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)


if __name__ == "__main__":
    run_process(sys.argv[1:])
