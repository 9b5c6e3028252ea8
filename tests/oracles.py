"""Brute-force reference implementations: plain loops in float64, one sentence at a time."""

import math
from collections import deque
from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np


def softmax(scores: np.ndarray) -> np.ndarray:
    """Normalise a vector of scores."""
    powers = np.array([math.exp(s - scores.max()) for s in scores])
    return powers / powers.sum()


def sinusoid_table(length: int, width: int) -> np.ndarray:
    """Compute the sinusoidal positions: (P, D)."""
    table_PD = np.zeros((length, width))
    for p in range(length):
        for i in range(width // 2):
            table_PD[p, 2 * i] = math.sin(p / 10000 ** (2 * i / width))
            table_PD[p, 2 * i + 1] = math.cos(p / 10000 ** (2 * i / width))
    return table_PD


def dropout_factors(size: int, probability: float) -> np.ndarray:
    """Stand in for dropout, without chance: multiply every second value of a vector by 1 + `probability`."""
    return np.where(np.arange(size) % 2 == 0, 1 + probability, 1)


class Oracle:
    """What the oracles of both bases share: a model's parameters, and dropout."""

    def __init__(self, model) -> None:
        self.model, self.settings = model, model.settings
        self.values = {name: value.detach().double().numpy() for name, value in model.state_dict().items()}

    def dropped(self, x: np.ndarray, probability: float) -> np.ndarray:
        """Apply `dropout_factors` if the model is in training mode; `model.comparing` lets the model do the same."""
        return x * dropout_factors(x.shape[-1], probability) if self.model.training else x


class TransformerOracle(Oracle):
    """Computes a model's logits for one sentence pair from its parameters, in loops.

    Subclasses change the embeddings, or the scores, the weights or the outputs of heads of self-attention.
    """

    def __init__(self, model) -> None:
        super().__init__(model)
        self.head_scores = {}
        """The last scores of each head (Q, K), by its layer ("encoder.0.attention") and number."""

    def linear(self, name: str, states: np.ndarray) -> np.ndarray:
        return states @ self.values[f"{name}.weight"].T + self.values[f"{name}.bias"]

    def norm(self, name: str, states: np.ndarray) -> np.ndarray:
        rows = []
        for row in states:
            mean = sum(row) / len(row)
            variance = sum((v - mean) ** 2 for v in row) / len(row)
            rows.append((row - mean) / math.sqrt(variance + 1e-5))
        return np.array(rows) * self.values[f"{name}.weight"] + self.values[f"{name}.bias"]

    def residual(self, name: str, states: np.ndarray, block) -> np.ndarray:
        def dropped(inputs: np.ndarray) -> np.ndarray:
            return self.dropped(block(inputs), self.settings.dropout)

        if self.settings.norm == "pre":
            return states + dropped(self.norm(f"{name}.norm", states))
        return self.norm(f"{name}.norm", states + dropped(states))

    def embed(self, name: str, ids: list[int]) -> np.ndarray:
        embedded, own = self.scaled_embeddings(name, ids), self.settings.embedding_dropout
        if self.has_sinusoids(name):
            embedded = embedded + sinusoid_table(len(ids), self.settings.width)
        return self.dropped(embedded, self.settings.dropout if own is None else own)

    def scaled_embeddings(self, name: str, ids: list[int]) -> np.ndarray:
        return np.array([self.values[f"{name}.weight"][i] * math.sqrt(self.settings.width) for i in ids])

    def has_sinusoids(self, name: str) -> bool:
        return self.settings.positions == "sinusoidal"

    def split(self, *packed: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
        """Cut queries, keys and values into those of each head: head h has the columns h*E to (h+1)*E."""
        return zip(*(np.split(part, self.settings.heads, axis=1) for part in packed), strict=True)

    def self_attention(self, name: str, states: np.ndarray, *, causal: bool) -> np.ndarray:
        packed = np.split(self.linear(f"{name}.queries_keys_values", states), 3, axis=1)
        mixed = []
        for head, (queries, keys, values) in enumerate(self.split(*packed)):
            scores = self.head_scores[name, head] = self.scores(name, head, states, queries, keys)
            hidden = np.triu(np.ones_like(scores, dtype=bool), k=1) & causal
            weights = self.weights(name, head, np.where(hidden, -np.inf, scores))
            mixed.append(self.mixed(name, self.dropped(weights, self.settings.attention_dropout), values))
        return self.linear(f"{name}.output", np.concatenate(mixed, axis=1))

    def scores(self, name: str, head: int, states: np.ndarray, queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
        return queries @ keys.T / math.sqrt(queries.shape[1])

    def weights(self, name: str, head: int, scores: np.ndarray) -> np.ndarray:
        return np.array([softmax(row) for row in scores])

    def mixed(self, name: str, weights: np.ndarray, values: np.ndarray) -> np.ndarray:
        return weights @ values

    def cross_attention(self, name: str, states: np.ndarray, memory_SD: np.ndarray) -> np.ndarray:
        packed = np.split(self.linear(f"{name}.keys_values", memory_SD), 2, axis=1)
        mixed = []
        for queries, keys, values in self.split(self.linear(f"{name}.queries", states), *packed):
            weights = np.array([softmax(row) for row in queries @ keys.T / math.sqrt(queries.shape[1])])
            mixed.append(self.dropped(weights, self.settings.attention_dropout) @ values)
        return self.linear(f"{name}.output", np.concatenate(mixed, axis=1))

    def feed_forward(self, name: str, states: np.ndarray) -> np.ndarray:
        inner = np.maximum(self.linear(f"{name}.inner", states), 0)
        return self.linear(f"{name}.outer", self.dropped(inner, self.settings.activation_dropout))

    def final(self, name: str, states: np.ndarray) -> np.ndarray:
        return self.norm(name, states) if self.settings.norm == "pre" else states

    def encode(self, source: list[int]) -> np.ndarray:
        states = self.embed("source_embedding", source)
        for i in range(self.settings.encoder_layers):
            name = f"encoder.{i}"
            states = self.residual(
                f"{name}.around_attention",
                states,
                lambda y, n=name: self.self_attention(f"{n}.attention", y, causal=False),
            )
            states = self.residual(
                f"{name}.around_feed_forward", states, lambda y, n=name: self.feed_forward(f"{n}.feed_forward", y)
            )
        return self.final("encoder_norm", states)

    def logits(self, source: list[int], target_input: list[int]) -> np.ndarray:
        memory_SD = self.encode(source)
        states = self.embed("target_embedding", target_input)
        for i in range(self.settings.decoder_layers):
            name = f"decoder.{i}"
            states = self.residual(
                f"{name}.around_attention",
                states,
                lambda y, n=name: self.self_attention(f"{n}.attention", y, causal=True),
            )
            states = self.residual(
                f"{name}.around_cross", states, lambda y, n=name: self.cross_attention(f"{n}.cross", y, memory_SD)
            )
            states = self.residual(
                f"{name}.around_feed_forward", states, lambda y, n=name: self.feed_forward(f"{n}.feed_forward", y)
            )
        return self.final("decoder_norm", states) @ self.values["target_embedding.weight"].T


def smoothed_distribution(entries: int, target: int, smoothing: float, over: str, padding: int = 0) -> np.ndarray:
    """Compute the target distribution entry by entry, as `smoothed_cross_entropy` defines it: (V,)."""
    q_V = np.zeros(entries)
    for v in range(entries):
        if over == "all":
            q_V[v] = smoothing / entries + (1 - smoothing if v == target else 0)
        elif v == target:
            q_V[v] = 1 - smoothing
        elif over == "others":
            q_V[v] = smoothing / (entries - 1)
        elif v != padding:
            q_V[v] = smoothing / (entries - 2)
    return q_V


def governor_columns(words: list[int], governors: list[int]) -> list[int | None]:
    """Return the column that each subword points to (`<ROOT>` is column 0); None without supervision."""
    columns: list[int | None] = []
    for i, word in enumerate(words):
        governor = governors[word]
        if governor == -2:
            columns.append(None)
        elif words.index(word) != i:
            columns.append(1 + words.index(word))
        elif governor == -1:
            columns.append(0)
        else:
            columns.append(1 + words.index(governor))
    return columns


def previous_columns(words: list[int]) -> list[int]:
    """Return the column that each subword points to in the chain of words (without `<ROOT>`)."""
    return [
        words.index(max(word - 1, 0)) if words.index(word) == i else words.index(word) for i, word in enumerate(words)
    ]


def pointing_loss(scores_SS: np.ndarray, targets: list[int | None], candidates: int) -> float:
    """Sum `-log p(target)`, with probabilities over the first `candidates` columns of each row."""
    total = 0.0
    for row, target in zip(scores_SS, targets, strict=True):
        if target is not None:
            total -= math.log(softmax(row[:candidates])[target])
    return total


def tree_steps(start: int, governors: list[int]) -> dict[int, list[tuple[int, str]]]:
    """Search a tree breadth first: return the path to every reachable word, as nodes with the step to each.

    The artificial root is a node too. Governors are 0-based; -1 is the artificial root.
    """
    root = len(governors)
    parents = [root if governor == -1 else governor for governor in governors]
    edges = {node: [] for node in range(root + 1)}
    for word, parent in enumerate(parents):
        edges[word].append((parent, "U"))
        edges[parent].append((word, "D"))
    paths, queue = {start: [(start, "")]}, deque([start])
    while queue:
        node = queue.popleft()
        for other, step in edges[node]:
            if other not in paths:
                paths[other] = [*paths[node], (other, step)]
                queue.append(other)
    return {word: path for word, path in paths.items() if word != root}


def distance_and_traversal(start: int, path: list[tuple[int, str]]) -> tuple[int, str]:
    """Count the edges and write the steps, with one step to a sibling instead of two over the common governor."""
    steps = "".join(step for _, step in path)
    if not steps.startswith("UD"):
        return len(steps), steps or "self"
    sibling = path[2][0]
    return len(steps), ("L" if sibling < start else "R") + steps[2:]


def tree_pairs(governors: list[int]) -> dict[tuple[int, int], tuple[int, str]]:
    """Return the distance and traversal ("self", "UUD", "LD"...) from each word to each other word and itself."""
    return {
        (i, j): distance_and_traversal(i, path)
        for i in range(len(governors))
        for j, path in tree_steps(i, governors).items()
    }


def every_tree(words: int) -> Iterator[tuple[int, ...]]:
    """Every non-projective dependency tree with one root: the governor of each word, -1 for the root."""
    for governors in product(range(-1, words), repeat=words):
        if governors.count(-1) == 1 and all(reaches_root(word, governors) for word in range(words)):
            yield governors


def reaches_root(word: int, governors: tuple[int, ...]) -> bool:
    for _ in governors:
        word = governors[word]
        if word == -1:
            return True
    return False


@cache
def all_trees(words: int) -> np.ndarray:
    """Return every tree as a row of heads, where the root's dependents have themselves as heads: (trees, W)."""
    trees = np.array(list(every_tree(words)))
    return np.where(trees == -1, np.arange(words), trees)


def tree_distribution(scores: np.ndarray) -> tuple[np.ndarray, float]:
    """Marginals of all edges, the root's on the diagonal, and the log of the sum over all trees, from all trees."""
    trees, words = all_trees(len(scores)), np.arange(len(scores))
    logs = scores[trees, words].sum(axis=1)
    weights = np.exp(logs - logs.max())
    marginals = np.zeros_like(scores)
    np.add.at(marginals, (trees, words), (weights / weights.sum())[:, None])
    return marginals, logs.max() + math.log(weights.sum())


def tree_gradient(scores: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Differentiate the sum of the marginals times `along`: covariances of the edges with the sums of all trees."""
    trees, words = all_trees(len(scores)), np.arange(len(scores))
    marginals, partition = tree_distribution(scores)
    probabilities = np.exp(scores[trees, words].sum(axis=1) - partition)
    deviations = along[trees, words].sum(axis=1) - (marginals * along).sum()
    gradient = np.zeros_like(scores)
    np.add.at(gradient, (trees, words), (probabilities * deviations)[:, None])
    return gradient


class Recurrent(Oracle):
    """Computes a recurrent model's logits for one pair from its parameters, in loops."""

    def __init__(self, model) -> None:
        super().__init__(model)
        self.component = next(iter(model.components), None)

    def linear(self, name: str, x: np.ndarray) -> np.ndarray:
        return x @ self.values[f"{name}.weight"].T + self.values.get(f"{name}.bias", 0)

    def encode(self, source: list[int]) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
        """Annotations (S, D), and the last hidden and cell states of every layer."""
        x = np.array([self.values["source_embedding.weight"][i] for i in source])
        hidden, cells = [], []
        for i in range(self.settings.layers):
            x, outputs, ends = self.dropped(x, self.settings.dropout), [], []
            for direction in ("", "_reverse"):
                weights = [self.values[f"encoder.{i}.{part}_l0{direction}"] for part in LSTM_PARAMETERS]
                steps = x[::-1] if direction else x
                states = lstm(steps, *weights)
                outputs.append(np.array([h for h, _ in (states[::-1] if direction else states)]))
                ends.append(states[-1])
            x = np.concatenate(outputs, axis=1)
            hidden.append(np.concatenate([h for h, _ in ends]))
            cells.append(np.concatenate([c for _, c in ends]))
        return x, hidden, cells

    def heads(self, memory: np.ndarray) -> np.ndarray:
        """The expected head of every token by the first component: (S, D)."""
        settings, name = self.component.settings, "components.0"
        scores = self.linear(f"{name}.queries", memory) @ self.linear(f"{name}.keys", memory).T
        scores = scores[:-1, :-1]
        weights = np.zeros((len(memory), len(memory)))
        if settings.weights == "tree":
            weights[:-1, :-1], _ = tree_distribution(scores)
        else:
            weights[:-1, :-1] = np.array([softmax(column) for column in scores.T]).T
        if settings.hard:
            best = weights.argmax(axis=0)
            weights = np.array(
                [[float(best[j] == i and j < len(best) - 1) for j in range(len(best))] for i in range(len(best))]
            )
        self.beta = weights
        return weights.T @ self.linear(f"{name}.values", memory)

    def logits(self, source: list[int], target_input: list[int]) -> np.ndarray:
        _, outputs = self.decode(source, target_input)
        return np.array(
            [self.values["target_embedding.weight"] @ output + self.values["output_bias"] for output in outputs]
        )

    def gate_norms(self, source: list[int], target_input: list[int]) -> np.ndarray:
        """The L2 norm of the gate of the first component at every target position: (T,)."""
        states, _ = self.decode(source, target_input)
        gates = [sigmoid(self.linear("components.0.gate", state)) for state in states]
        return np.array([math.sqrt(sum(value * value for value in gate)) for gate in gates])

    def decode(self, source: list[int], target_input: list[int]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The top layer's hidden state h and the output u of every step."""
        memory, hidden, cells = self.encode(source)
        name, self.attention, self.own_attention = "components.0", [], []
        heads = None if self.component is None else self.heads(memory)
        way = None if self.component is None else self.component.settings.annotations
        if way == "one_set":
            memory = memory + sigmoid(self.linear(f"{name}.gate", memory)) * heads
        output, states, outputs = np.zeros(self.settings.width), [], []
        for token in target_input:
            embedded = self.dropped(self.values["target_embedding.weight"][token], self.settings.dropout)
            below = output
            for i in range(self.settings.layers):
                below = self.dropped(below, self.settings.dropout) if i else below
                gates = self.linear(f"decoder.{i}.stepwise", np.concatenate([below, hidden[i]]))
                gates = gates if i else gates + self.linear("decoder.0.embedded", embedded)
                entry, forget, out, candidate = np.split(gates, 4)
                cells[i] = sigmoid(forget) * cells[i] + sigmoid(entry) * np.tanh(candidate)
                hidden[i] = below = sigmoid(out) * np.tanh(cells[i])
            weights = softmax(self.linear("keys", memory) @ below)
            self.attention.append(weights)
            mixed = self.linear("from_context", weights @ memory) + self.linear("from_hidden", below)
            if way in ("shared", "separate"):
                if way == "separate":
                    weights = softmax(self.linear(f"{name}.attention", heads) @ below)
                    self.own_attention.append(weights)
                mixed += self.linear(
                    f"{name}.into_output", weights @ heads * sigmoid(self.linear(f"{name}.gate", below))
                )
            output = self.dropped(np.tanh(mixed), self.settings.dropout)
            states.append(below)
            outputs.append(output)
        return states, outputs


LSTM_PARAMETERS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def lstm(inputs, input_weight, hidden_weight, input_bias, hidden_bias) -> list[tuple[np.ndarray, np.ndarray]]:
    """Hidden and cell state after every input; gates in torch's order: input, forget, candidate, output."""
    width = hidden_weight.shape[1]
    hidden, cell, states = np.zeros(width), np.zeros(width), []
    for x in inputs:
        gates = input_weight @ x + input_bias + hidden_weight @ hidden + hidden_bias
        entry, forget, candidate, out = np.split(gates, 4)
        cell = sigmoid(forget) * cell + sigmoid(entry) * np.tanh(candidate)
        hidden = sigmoid(out) * np.tanh(cell)
        states.append((hidden, cell))
    return states


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))
