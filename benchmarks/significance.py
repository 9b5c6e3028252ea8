"""Time a comparison of systems: sentence statistics, 1,000 paired bootstrap samples, the papers' own tests.

    python benchmarks/significance.py --references FILE [--systems 5] [--seeds 3] [--sentences 3000] [--tests]

The translations are the references with words dropped and exchanged at random, different for each system and seed.
"""

import argparse
import random
import time
from pathlib import Path

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.evaluation.compare import bootstrap_weights, compare_systems, paired_tests, randomisation_swaps
from nmtcore.evaluation.metrics import METRICS
from nmtcore.files import read_lines


def main() -> None:
    """Measure and print seconds of wall time and CPU time per stage and metric."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--references", type=Path, required=True)
    arguments.add_argument("--systems", type=int, default=5)
    arguments.add_argument("--seeds", type=int, default=3)
    arguments.add_argument("--sentences", type=int, default=3000)
    arguments.add_argument("--metrics", nargs="+", choices=METRICS, default=["bleu", "chrf"])
    arguments.add_argument("--tests", action="store_true", help="also run the papers' own tests")
    chosen = arguments.parse_args()
    references = read_lines(chosen.references)[: chosen.sentences]
    words = sorted({word for line in references for word in line.split()})
    translations = {
        f"system{system}": [
            damaged(references, words, random.Random(f"{system} {seed}")) for seed in range(chosen.seeds)
        ]
        for system in range(chosen.systems)
    }
    print(f"{len(references):,} sentences, {sum(len(line.split()) for line in references) / len(references):.1f} words")
    evaluation, systems = EvaluationSettings(), {}
    for metric in chosen.metrics:
        with timed(f"{metric}, counts"):
            systems[metric] = {
                name: [METRICS[metric].count(lines, references, evaluation) for lines in seeds]
                for name, seeds in translations.items()
            }
        with timed(f"{metric}, bootstrap"):
            compare_systems(systems[metric], dict.fromkeys(list(systems[metric])[1:], "system0"))
        if chosen.tests:
            with timed(f"{metric}, tests"):
                draws = bootstrap_weights(len(references)), randomisation_swaps(len(references))
                for name in list(systems[metric])[1:]:
                    for pair in zip(systems[metric][name], systems[metric]["system0"], strict=True):
                        paired_tests(*pair, *draws)


def damaged(lines: list[str], words: list[str], rng: random.Random) -> list[str]:
    """Drop a tenth of the words, and replace a third of the others."""
    return [
        " ".join(rng.choice(words) if rng.random() < 0.33 else word for word in line.split() if rng.random() > 0.1)
        for line in lines
    ]


class timed:
    """A block whose wall time and CPU time are printed."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        self.start = time.perf_counter(), time.process_time()

    def __exit__(self, *error: object) -> None:
        wall, cpu = time.perf_counter() - self.start[0], time.process_time() - self.start[1]
        print(f"{self.name}: {wall:.2f} s, {cpu:.2f} s of CPU time", flush=True)


if __name__ == "__main__":
    main()
