"""What all searches share: hypotheses, their scores and limits, and the interface of the models that are searched."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from nmtcore.config.training import DecodingSettings
from nmtcore.errors import DivergedError
from nmtcore.model.base import DecoderState
from nmtcore.segmentation.vocabulary import BOS, PAD, ROOT_ID

NEVER_GENERATED = (PAD, BOS, ROOT_ID)
"""Vocabulary entries that are never generated; `<unk>` may be."""

Number = TypeVar("Number", float, np.ndarray)


@dataclass(frozen=True, kw_only=True, slots=True)
class Hypothesis:
    """One translation: its tokens without `</s>`, its score and its log probability.

    Greedy search computes the last two only if it is asked for them; they are NaN otherwise.
    """

    tokens: tuple[int, ...]
    score: float
    """`log_probability` over the length penalty."""
    log_probability: float
    """Natural logarithm, `</s>` included."""


class Decoder(Protocol):
    """The interface of a model that a search requires."""

    def start(self, encoded: Any) -> DecoderState:
        """Start to decode encoded sentences, with one beam each."""

    def step(self, tokens_R: Tensor, state: DecoderState) -> Tensor:
        """Read one token per row; return the logits `(R, V)` of the next."""


def never_generated(device: torch.device) -> Tensor:
    """Return `NEVER_GENERATED` as a tensor on the device; the host does not wait for the copy."""
    return torch.tensor(NEVER_GENERATED).to(device, non_blocking=True)


def diverged() -> DivergedError:
    """Make the error for probabilities that are NaN."""
    return DivergedError("The model's probabilities are NaN: its training has diverged.")


def log_probabilities(logits_RV: Tensor) -> Tensor:
    """Compute the log probabilities of the next tokens, in fp32 or better."""
    return torch.log_softmax(logits_RV, dim=1, dtype=torch.promote_types(logits_RV.dtype, torch.float32))


def to_host(*tensors: Tensor) -> list[np.ndarray]:
    """Copy small tensors to the host, which waits for the device once: in float64 and int64."""
    if all(tensor.device.type == "cpu" for tensor in tensors):
        arrays = [tensor.numpy() for tensor in tensors]
    else:
        ends = np.cumsum([tensor.numel() for tensor in tensors])
        flat = torch.cat([tensor.flatten().double() for tensor in tensors]).cpu().numpy()
        arrays = [part.reshape(tensor.shape) for part, tensor in zip(np.split(flat, ends[:-1]), tensors, strict=True)]
    types = (np.float64 if tensor.is_floating_point() else np.int64 for tensor in tensors)
    return [array.astype(dtype, copy=False) for array, dtype in zip(arrays, types, strict=True)]


def length_penalty(settings: DecodingSettings, length: Number) -> Number:
    """Compute the divisor of the log probability of a hypothesis of `length` tokens, `</s>` included.

    gnmt: ((5 + n) / 6)^alpha, equation 14 of Wu et al. 2016 without coverage. fairseq: n^alpha. none: 1.
    """
    base = {"gnmt": (5 + length) / 6, "fairseq": length * 1.0, "none": length * 0.0 + 1.0}[settings.length_penalty]
    return base**settings.alpha


def length_limits(settings: DecodingSettings, source_lengths: Sequence[int]) -> list[int]:
    """Compute the largest number of tokens per translation: the smallest of the configured limits.

    Neither the limits nor `source_lengths` count `</s>`, and `source_lengths` do not count the tags of words.
    """
    limits = []
    if settings.max_length is not None:
        limits.append([settings.max_length] * len(source_lengths))
    if settings.max_length_ratio is not None:
        limits.append([int(settings.max_length_ratio * n) + settings.max_length_extra for n in source_lengths])
    return [min(sentence_limits) for sentence_limits in zip(*limits, strict=True)]
