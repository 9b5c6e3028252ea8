"""Time the maximum spanning tree by sentence length, in milliseconds of CPU time per sentence, and that of networkx.

    python benchmarks/trees.py [--sentences 200]

Scores are log-softmaxes of normal numbers with standard deviation 1 (flat, as in an untrained model) or 5 (peaked).
"""

import argparse
import time
from collections.abc import Callable

import networkx
import numpy as np

from nmtcore.syntax.spanning_tree import maximum_spanning_tree

LENGTHS = (10, 25, 50, 100, 300, 1000)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=200, help="sentences of 25 words; fewer of longer ones")
    options = parser.parse_args()
    random = np.random.default_rng(0)
    print("| words | deviation | one root | any number | networkx, any number |")
    print("|---:|---:|---:|---:|---:|")
    for words in LENGTHS:
        for deviation in (1, 5):
            logits = deviation * random.normal(size=(max(2, options.sentences * 25 // words), words, words + 1))
            scores = list(logits - np.log(np.exp(logits).sum(-1, keepdims=True)))
            one_root = milliseconds(lambda s: maximum_spanning_tree(s, single_root=True), scores)
            many_roots = milliseconds(lambda s: maximum_spanning_tree(s, single_root=False), scores)
            networkx_time = f"{milliseconds(with_networkx, scores[:5]):.1f}" if words <= 100 else ""
            print(f"| {words} | {deviation} | {one_root:.2f} | {many_roots:.2f} | {networkx_time} |")


def milliseconds(decode: Callable[[np.ndarray], object], scores: list[np.ndarray]) -> float:
    """Return the mean time per sentence, in the best of three rounds."""
    times = []
    for _ in range(3):
        began = time.process_time()
        for scores_of_sentence in scores:
            decode(scores_of_sentence)
        times.append(time.process_time() - began)
    return 1e3 * min(times) / len(scores)


def with_networkx(scores: np.ndarray) -> object:
    """Return the tree of networkx."""
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
