"""Time the recurrent model: training steps, and marginals of trees.

Each table compares models in interleaved rounds, so that a busy machine slows all of them equally, and shows medians
over the rounds; ratios are medians of ratios within a round.

- Steps: `nmt` and systems with head selection, against a bare recurrent model of the same size: a packed
  `nn.LSTM(bidirectional=True)` of all layers, and `LSTMCell`s with attention, input feeding and the output layer.
- Marginals: forward and backward for 64 sentences of 40 words, against `torch.linalg.inv` in float64, if no sentence,
  one sentence, or all sentences need the elimination.

    python benchmarks/recurrent.py [steps] [marginals] [--systems SYSTEM...] [--widths 128 1024]
"""

import argparse
import statistics
import time
from collections.abc import Callable
from contextlib import nullcontext

import torch
import torch.nn.functional as F
from random_models import random_model
from step import Runner, batches_of, examples, peak_of, time_steps
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from nmtcore.config.training import RecurrentSettings
from nmtcore.model.batch import Batch, make_batch
from nmtcore.model.trees import tree_marginals

BARE, BASE = "LSTM and LSTMCell", "nmt"
DROPOUT = 0.3
ROUNDS = 40


class Bare(nn.Module):
    """Encoder, decoder, attention, input feeding and tied output layer, from torch's modules."""

    def __init__(self, width: int, layers: int, vocabulary: int) -> None:
        super().__init__()
        self.source, self.target = (nn.Embedding(vocabulary, width) for _ in range(2))
        self.encoder = nn.LSTM(width, width // 2, layers, bidirectional=True, batch_first=True)
        self.cells = nn.ModuleList(nn.LSTMCell(width if i else 2 * width, width) for i in range(layers))
        self.keys = nn.Linear(width, width, bias=False)
        self.output = nn.Linear(2 * width, width, bias=False)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, batch: Batch) -> Tensor:
        layers, sentences = len(self.cells), len(batch.source_BS)
        states_BSD, lengths_B = self.dropped(self.source(batch.source_BS)), batch.source_mask_BS.sum(dim=1)
        packed = pack_padded_sequence(states_BSD, lengths_B, batch_first=True, enforce_sorted=False)
        annotations, last = self.encoder(packed)
        values_BSD, _ = pad_packed_sequence(annotations, batch_first=True, total_length=batch.source_BS.size(1))
        hidden, cells = (
            list(states.view(layers, 2, sentences, -1).transpose(1, 2).flatten(2).unbind()) for states in last
        )
        keys_BDS, padding_BS = self.keys(values_BSD).mT, ~batch.source_mask_BS
        output_BD, outputs = torch.zeros_like(hidden[0]), []
        for token_BD in self.dropped(self.target(batch.target_input_BT)).unbind(1):
            below_BD = torch.cat([token_BD, output_BD], dim=1)
            for i, cell in enumerate(self.cells):
                hidden[i], cells[i] = cell(self.dropped(below_BD) if i else below_BD, (hidden[i], cells[i]))
                below_BD = hidden[i]
            scores_BS = torch.bmm(below_BD.unsqueeze(1), keys_BDS).squeeze(1).masked_fill(padding_BS, float("-inf"))
            context_BD = torch.bmm(scores_BS.softmax(1).unsqueeze(1), values_BSD).squeeze(1)
            output_BD = self.dropped(self.output(torch.cat([context_BD, below_BD], dim=1)).tanh())
            outputs.append(output_BD)
        states_ND = torch.stack(outputs, dim=1).flatten(0, 1)[batch.target_positions_N]
        targets_N = batch.target_output_BT.flatten()[batch.target_positions_N]
        return F.cross_entropy(F.linear(states_ND, self.target.weight, self.bias), targets_N)

    def dropped(self, states: Tensor) -> Tensor:
        return F.dropout(states, DROPOUT, self.training)


def time_training(options: argparse.Namespace) -> None:
    data = examples(2000, options.vocabulary, 1, length=13.5)
    for width in options.widths:
        # The wider model has the paper's batches of 32 sentences.
        tokens, repeats = (1024, 8) if width < 512 else (512, 2)
        rows = batches_of(data, tokens, 3)
        models: dict[str, nn.Module] = {BARE: Bare(width, options.layers, options.vocabulary)}
        for name in (BASE, *options.systems):
            sizes = {"recurrent": RecurrentSettings(width=width, layers=options.layers, dropout=DROPOUT)}
            models[name] = random_model(name, sizes, vocabulary=options.vocabulary, joint=False)
        runners = [runner_of(name, model, data, rows) for name, model in models.items()]
        time_steps(runners, options.rounds or repeats, "cpu")
        for runner in runners:
            runner.peak = peak_of(runner, runner.batches[0], "cpu")
        report_training(runners, width)


def runner_of(name: str, model: nn.Module, data, rows) -> Runner:
    def loss(batch: Batch) -> Tensor:
        return model(batch) if name == BARE else model.loss(batch).objective()

    return Runner(
        name=name,
        model=model.train(),
        loss=loss,
        batches=[make_batch(data, chosen, getattr(model, "components", ())) for chosen in rows],
        precision=nullcontext,
    )


def report_training(runners: list[Runner], width: int) -> None:
    tokens = [batch.tokens for batch in runners[0].batches]
    wall = {r.name: [step[0] for step in r.seconds] for r in runners}
    cpu = {r.name: [step[1] for step in r.seconds] for r in runners}
    peak = {r.name: r.peak for r in runners}
    print(f"\nSteps, width {width}, {sum(tokens) / len(tokens):.0f} target tokens per batch")
    print(f"{'':20}{'ms':>8}{'tokens/s':>10}{'/ bare':>8}{'CPU':>6}{'time / nmt':>12}{'CPU':>6}{'MiB':>8}{'/ nmt':>7}")
    for r in runners:
        speed = statistics.median(tokens[i % len(tokens)] / seconds for i, seconds in enumerate(wall[r.name]))
        ratios = [
            1 / median_ratio(wall[r.name], wall[BARE]),
            1 / median_ratio(cpu[r.name], cpu[BARE]),
            median_ratio(wall[r.name], wall[BASE]),
            median_ratio(cpu[r.name], cpu[BASE]),
        ]
        print(
            f"{r.name:20}{1e3 * statistics.median(wall[r.name]):8.1f}{speed:10.0f}{ratios[0]:8.2f}{ratios[1]:6.2f}"
            f"{ratios[2]:12.2f}{ratios[3]:6.2f}{peak[r.name] / 2**20:8.1f}{peak[r.name] / peak[BASE]:7.2f}",
            flush=True,
        )


def median_ratio(seconds: list[float], reference: list[float]) -> float:
    """Return the median of the ratios within a round."""
    return statistics.median(a / b for a, b in zip(seconds, reference, strict=True))


def interleaved(functions: dict[str, Callable[[], object]], rounds: int) -> tuple[dict, dict]:
    """Call all functions in turn, after one round of warm-up: wall and CPU seconds of every call, by name."""
    wall, cpu = ({name: [] for name in functions} for _ in range(2))
    for count in range(rounds + 1):
        for name, function in functions.items():
            start, start_cpu = time.perf_counter(), time.process_time()
            function()
            if count:
                wall[name].append(time.perf_counter() - start)
                cpu[name].append(time.process_time() - start_cpu)
    return wall, cpu


def time_marginals(options: argparse.Namespace) -> None:
    sentences, words = 64, 40
    generator = torch.Generator().manual_seed(0)
    scores_BSS = torch.randn(sentences, words, words, generator=generator)
    gradient_BSS = torch.randn(sentences, words, words, generator=generator)
    nodes_BS = torch.ones(sentences, words, dtype=torch.bool)

    def inverse() -> None:
        matrix_BSS = (scores_BSS.double() + words * torch.eye(words)).requires_grad_()
        torch.linalg.inv(matrix_BSS).backward(gradient_BSS.double())

    def marginals(scores_BSS: Tensor) -> Callable[[], None]:
        def run() -> None:
            leaf_BSS = scores_BSS.clone().requires_grad_()
            tree_marginals(leaf_BSS, nodes_BS).backward(gradient_BSS)

        return run

    functions = {
        "torch.linalg.inv": inverse,
        "no sentence eliminated": marginals(scores_BSS),
        "1 sentence eliminated": marginals(torch.cat([mutual_pairs(scores_BSS[:1], 60.0), scores_BSS[1:]])),
        "64 sentences eliminated": marginals(mutual_pairs(scores_BSS, 60.0)),
    }
    # Freeing a large block once, as training does, makes glibc keep smaller ones instead of returning them at once.
    torch.empty(24 << 20, dtype=torch.uint8).fill_(0)
    wall, cpu = interleaved(functions, options.rounds or ROUNDS)
    print(f"\nMarginals of {sentences} sentences of {words} words, forward and backward")
    report(wall, cpu, "torch.linalg.inv")


def mutual_pairs(scores_BSS: Tensor, margin: float) -> Tensor:
    """Let words 0 and 1, 2 and 3... prefer each other as heads, by a margin over all other scores."""
    scores_BSS, best = scores_BSS.clone(), scores_BSS.max() + margin
    even = torch.arange(0, scores_BSS.size(1) - 1, 2)
    scores_BSS[:, even, even + 1] = scores_BSS[:, even + 1, even] = best
    return scores_BSS


def report(wall: dict, cpu: dict, reference: str) -> None:
    print(f"{'':28}{'ms':>9}{'CPU ms':>9}{'ratio':>8}{'CPU ratio':>11}")
    for name in wall:
        ratios = median_ratio(wall[name], wall[reference]), median_ratio(cpu[name], cpu[reference])
        medians = [1e3 * statistics.median(seconds[name]) for seconds in (wall, cpu)]
        print(f"{name:28}{medians[0]:9.1f}{medians[1]:9.1f}{ratios[0]:8.2f}{ratios[1]:11.2f}", flush=True)


TABLES = {"steps": time_training, "marginals": time_marginals}


def main() -> None:
    """Read the options, run the measurements and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], default=[], help="default: both")
    parser.add_argument("--widths", type=int, nargs="+", default=[128, 1024])
    parser.add_argument(
        "--systems", nargs="+", default=["sa_nmt_shared"], help="to be compared with nmt by their steps"
    )
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--vocabulary", type=int, default=6000)
    parser.add_argument("--rounds", type=int, help="rounds of every table, instead of its own number")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    for table in options.tables or TABLES:
        TABLES[table](options)


if __name__ == "__main__":
    main()
