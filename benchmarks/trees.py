"""Time the maximum spanning tree by sentence length: milliseconds of processor time a sentence, beside networkx.

    python benchmarks/trees.py [--sentences 200]

Scores are log-softmaxes of normal draws (standard deviation 1 and 5): flat (a model that knows nothing) or peaked.
"""

import argparse
import time
from collections.abc import Callable

import networkx
import numpy as np

from nmtcore.syntax.spanning_tree import maximum_spanning_tree

LENGTHS = (10, 25, 50, 100, 300, 1000)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=200, help="of 25 words; fewer of longer ones")
    chosen = parser.parse_args()
    random = np.random.default_rng(0)
    print("| words | deviation | one root | any number | networkx, any number |")
    print("|---:|---:|---:|---:|---:|")
    for words in LENGTHS:
        for deviation in (1, 5):
            drawn = deviation * random.normal(size=(max(2, chosen.sentences * 25 // words), words, words + 1))
            scores = list(drawn - np.log(np.exp(drawn).sum(-1, keepdims=True)))
            one = milliseconds(lambda s: maximum_spanning_tree(s, single_root=True), scores)
            many = milliseconds(lambda s: maximum_spanning_tree(s, single_root=False), scores)
            other = f"{milliseconds(with_networkx, scores[:5]):.1f}" if words <= 100 else ""
            print(f"| {words} | {deviation} | {one:.2f} | {many:.2f} | {other} |")


def milliseconds(work: Callable[[np.ndarray], object], scores: list[np.ndarray]) -> float:
    """Time work over all scores, the best of three."""
    times = []
    for _ in range(3):
        began = time.process_time()
        for each in scores:
            work(each)
        times.append(time.process_time() - began)
    return 1e3 * min(times) / len(scores)


def with_networkx(scores: np.ndarray) -> object:
    """Let networkx find the tree."""
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from(
        (head, word, scores[word - 1, head])
        for word in range(1, len(scores) + 1)
        for head in range(len(scores) + 1)
        if head != word
    )
    return networkx.maximum_spanning_arborescence(graph)


if __name__ == "__main__":
    main()
