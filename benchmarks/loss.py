"""Time three ways to compute the smoothed loss and its gradients, and measure their memory.

    python benchmarks/loss.py [--device cuda] [--tokens 2048] [--vocabulary 32000] [--width 512] [--bf16] [--no-compile]

- whole: `smoothed_cross_entropy`, with the log-probabilities of tokens by vocabulary entries;
- chunk N: `training.loss_chunk: N`, the same with PyTorch's loss in chunks;
- compiled: `torch.compile` of a linear layer and `F.cross_entropy` with smoothing (on a CPU it needs a C++ compiler).

With `--bf16`, all compute under autocast, as training in bf16 does: the first and last have logits in bf16, the chunked
loss turns autocast off and computes in fp32. Losses and gradients must agree: the largest difference from those of the
first way is printed, with the peak memory of the process. Rounds are interleaved.
"""

import argparse
import resource
import statistics
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from nmtcore.model.losses import smoothed_cross_entropy

SMOOTHING = 0.1
Loss = Callable[[Tensor, Tensor, Tensor], Tensor]


def ours(chunk: int | None) -> Loss:
    """Return our loss, in chunks unless `chunk` is None."""
    return lambda states_ND, weight_VD, targets_N: (
        smoothed_cross_entropy(
            states_ND, weight_VD, None, targets_N, smoothing=SMOOTHING, over="all", chunk=chunk
        ).smoothed
    )


def plain(states_ND: Tensor, weight_VD: Tensor, targets_N: Tensor) -> Tensor:
    return F.cross_entropy(F.linear(states_ND, weight_VD), targets_N, label_smoothing=SMOOTHING, reduction="sum")


def clock(device: str) -> float:
    """Return the CPU time, or for a GPU the time at which all its work is done."""
    if device == "cpu":
        return time.process_time()
    torch.cuda.synchronize()
    return time.perf_counter()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in [("tokens", 2048), ("vocabulary", 32000), ("width", 512), ("rounds", 5)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--chunks", type=int, nargs="*", default=[128, 512])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--bf16", action="store_true", help="under autocast to bf16")
    parser.add_argument("--no-compile", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    states_ND = torch.randn(options.tokens, options.width, device=options.device, requires_grad=True)
    weight_VD = torch.randn(options.vocabulary, options.width, device=options.device) * options.width**-0.5
    weight_VD.requires_grad_()
    targets_N = torch.randint(5, options.vocabulary, (options.tokens,), device=options.device)

    # The process' peak memory never falls: the ways that need least come first.
    ways: dict[str, Loss] = {**{f"chunk {n}": ours(n) for n in sorted(options.chunks)}, "whole": ours(None)}
    if not options.no_compile:
        ways["compiled"] = torch.compile(plain)
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    expected: list[Tensor] = []
    for repeat in range(options.rounds + 1):
        for name, loss in ways.items():
            start = clock(options.device)
            with torch.autocast(options.device, torch.bfloat16, enabled=options.bf16):
                value = loss(states_ND, weight_VD, targets_N)
            results = [value.detach(), *torch.autograd.grad(value, [states_ND, weight_VD])]
            if repeat:
                seconds[name].append(clock(options.device) - start)
                continue
            expected = expected or results
            difference = max(float((a - b).abs().max() / b.abs().max()) for a, b in zip(results, expected, strict=True))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            if options.device != "cpu":
                peak = torch.cuda.max_memory_allocated() / 2**20
                torch.cuda.reset_peak_memory_stats()
            print(
                f"{name}: largest relative difference {difference:.1e}, peak memory so far {peak:,.0f} MB", flush=True
            )
    for name, values in seconds.items():
        ratio = statistics.median(value / first for value, first in zip(values, seconds["whole"], strict=True))
        print(f"{name}: {1000 * statistics.median(values):,.0f} ms, {ratio:.2f} of the time of the whole loss")


if __name__ == "__main__":
    main()
