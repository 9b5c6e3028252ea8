"""Training, looking at and comparing models from Python, for notebooks: `docs/tour.ipynb` shows all of it.

`train_system` runs the workflow, as `snakemake` in a terminal does; everything is also a file in its folder.
"""

import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from nmtcore.config.own_folder import REPOSITORY, project_of_folder
from nmtcore.errors import UserError
from nmtcore.files import read_json, write_text

if TYPE_CHECKING:
    from nmtcore.inference.bundle import Bundle
    from nmtcore.inference.schemas import AnalysedModel, AnalysedSentence, AttentionHead

_LAST_LINES = 20
"""Lines of Snakemake's output in the message about a failed run."""


@dataclass(frozen=True)
class Picture:
    """A drawing, which a notebook shows if it is the value of a cell."""

    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Path | str) -> None:
        """Write the drawing to an SVG file."""
        write_text(path, self.svg)


def train_system(system: str, *, dataset: str, scale: str, seed: int = 1, folder: Path | str = ".") -> "TrainedRun":
    """Train a system, translate the tests and score them, as far as that is not done yet; return the run.

    `folder` is the working folder, as `-d` of Snakemake: it may hold files of your own in `config`, and gets the
    results. Raises `UserError` if a name is unknown or the workflow fails.
    """
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with chdir(folder):
        project = project_of_folder(folder)
        project.run(dataset, system, scale, seed)
        scores = project.layout.path("scores", dataset=dataset, system=system, scale=scale, seed=seed)
    started = time.monotonic()
    _run_workflow(folder, scores)
    print(f"{system} on {dataset}: {time.monotonic() - started:.0f} s")
    return TrainedRun(system, (folder / scores).parent)


def _run_workflow(folder: Path, target: str) -> None:
    """Make a file with Snakemake, on one core."""
    command = [sys.executable, "-m", "snakemake", "-s", str(REPOSITORY / "Snakefile"), "-d", str(folder)]
    done = subprocess.run([*command, "--cores", "1", "--quiet", "rules", "--", target], capture_output=True, text=True)
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-_LAST_LINES:])
        raise UserError(f"The workflow could not make {folder / target}. Its last lines:\n{last}")


@dataclass(frozen=True)
class TrainedRun:
    """A trained and scored run of a system."""

    system: str
    folder: Path
    """Its folder, `results/{scale}/{dataset}/{system}/seed{seed}`."""

    @property
    def main_test(self) -> str:
        """The main test split of its data set: the first one that is scored."""
        return next(iter(read_json(self.folder / "scores.json")["bleu"]))

    @property
    def scores(self) -> dict[str, float]:
        """BLEU and chrF of the main test and, if the system parses, the percentage of right heads (UAS)."""
        values = read_json(self.folder / "scores.json")
        bleu = values["bleu"][self.main_test]
        scores = {"BLEU": bleu["bleu"], "chrF": bleu["chrf"]}
        if parsed := values.get("uas", {}).get(self.main_test):
            scores["UAS"] = parsed["argmax"]["uas"]
        return {name: round(value, 1) for name, value in scores.items()}

    @cached_property
    def model(self) -> "LoadedModel":
        """The trained model."""
        return load_model(self.folder / "model")


def load_model(folder: Path | str) -> "LoadedModel":
    """Load a trained model, the folder `model` of a run, to translate and to look at sentences."""
    from nmtcore.inference.attention import load_observed_bundle

    return LoadedModel(load_observed_bundle(Path(folder)))


@dataclass(frozen=True)
class LoadedModel:
    """A trained model on the processor of this machine."""

    bundle: "Bundle"

    def translate(self, sentences: Sequence[str]) -> list[str]:
        """Translate sentences of raw text."""
        return list(self.bundle.translate(sentences))

    def look_at(self, sentence: str) -> "SentenceView":
        """Translate a sentence, and keep all that can be drawn of it. Raises `UserError` if it has no words."""
        from nmtcore.inference.analyse import analyse_sentences
        from nmtcore.inference.text import read_text

        model = analyse_sentences(self.bundle, read_text([sentence], where="the sentence"), limit=1)
        if not model.sentences:
            raise UserError("The sentence has no words: give one with some text.")
        return SentenceView(model, model.sentences[0])


@dataclass(frozen=True)
class SentenceView:
    """A sentence, and what a model makes of it."""

    analysed: "AnalysedModel"
    sentence: "AnalysedSentence"

    @property
    def translation(self) -> str:
        """The translation."""
        return self.sentence.translation

    def tree(self) -> Picture:
        """Draw the heads that the model predicts. Raises `UserError` if none of its components does."""
        from nmtcore.reporting.svg import titled_svg
        from nmtcore.reporting.tree_drawing import DrawnTree, tree_drawing

        if self.sentence.parse is None:
            raise UserError(f"{self.analysed.system} does not predict heads: look at its attention instead.")
        drawing = tree_drawing(DrawnTree("", self.sentence.words, self.sentence.parse))
        return Picture(titled_svg(f"{self.analysed.system}: {self.sentence.text}", [drawing]))

    def attention(self, layer: int, head: int, *, stack: str = "encoder") -> Picture:
        """Draw the attention of one head as a map: the darker a cell, the more its row attends to its column.

        Layers and heads count from 0; `stack` is `encoder`, or `cross` for the decoder's attention to the source.
        Raises `UserError` if there is no such head.
        """
        from nmtcore.inference.schemas import is_of_decoder
        from nmtcore.reporting.maps_figure import map_drawing
        from nmtcore.reporting.svg import titled_svg

        number = self._number_of(stack, layer, head)
        columns = self.sentence.source_tokens
        rows = self.sentence.target_tokens if is_of_decoder(self.analysed.heads[number]) else columns
        weights = (self.sentence.weights[number] / 100).tolist()
        title = f"{self.analysed.system}: {stack}, layer {layer}, head {head}"
        return Picture(titled_svg(title, [map_drawing(rows, columns, weights)]))

    def _number_of(self, stack: str, layer: int, head: int) -> int:
        heads: list[AttentionHead] = self.analysed.heads
        for number, own in enumerate(heads):
            if (own.attention, own.layer, own.head) == (stack, layer, head):
                return number
        known = sorted({(own.attention, own.layer) for own in heads if own.layer is not None})
        layers = ", ".join(f"{attention} {own}" for attention, own in known)
        raise UserError(f"There is no {stack} attention of layer {layer}, head {head}. The layers are: {layers}.")


@dataclass(frozen=True)
class Report:
    """Lines of text, which a notebook shows if they are the value of a cell."""

    text: str

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text)}</pre>"


def compare_runs(baseline: TrainedRun, *others: TrainedRun) -> Report:
    """Compare the BLEU of runs on the main test with that of the first, as `nmtcore score` does.

    Raises `UserError` if the runs have other references than the first, or if one system is given twice.
    """
    from nmtcore.config.datasets import EvaluationSettings
    from nmtcore.config.typed import build
    from nmtcore.evaluation.outputs import read_outputs
    from nmtcore.reporting.listings import score_report

    names = [run.system for run in (baseline, *others)]
    if len(set(names)) < len(names):
        raise UserError(f"Give each system once, not {', '.join(names)}; `nmtcore score` compares several seeds.")
    folders = {run.system: {1: run.folder / "hypotheses"} for run in (baseline, *others)}
    evaluation = read_json(baseline.folder / "model/run.json")["evaluation"]
    settings = build(EvaluationSettings, evaluation, where="evaluation")
    return Report(score_report(read_outputs(folders, baseline.main_test), settings, metrics=["bleu"], every=True))
