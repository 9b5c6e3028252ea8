"""Ranges of numbers in settings: `Annotated[int, Range(least=1)]`, and the class decorator that checks them."""

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, Union, dataclass_transform

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Range:
    """A range of numbers; infinity and NaN are outside every range."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    """A bound that is not allowed itself."""
    below: float | None = None
    """A bound that is not allowed itself."""

    def __contains__(self, number: float) -> bool:
        return (
            (isinstance(number, int) or math.isfinite(number))
            and (self.least is None or number >= self.least)
            and (self.most is None or number <= self.most)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )

    def __str__(self) -> str:
        if self.least is not None and self.most is not None:
            return f"between {self.least} and {self.most}"
        words = {"least": "at least", "above": "above", "most": "at most", "below": "below"}
        bounds = [f"{word} {getattr(self, name)}" for name, word in words.items() if getattr(self, name) is not None]
        return " and ".join(bounds) or "a finite number"


Count = Annotated[int, Range(least=1)]
"""A number of things, at least one."""
Width = Annotated[int, Range(least=1, most=1_000_000)]
"""The size of a layer or a vector, far beyond any model's."""
LayerCount = Annotated[int, Range(least=1, most=1000)]
"""The number of layers of a stack; Wang et al. (2022, DeepNet) trained a transformer of 1,000 layers in all."""
Distance = Annotated[int, Range(least=1, most=1000)]
"""A distance between two tokens; of a longer text, at most 1,000 subwords are translated at once."""
Amount = Annotated[int, Range(least=0)]
"""A number of things, perhaps none."""
Index = Annotated[int, Range(least=0)]
"""A position, counted from 0."""
HeadCount = Annotated[int, Range(least=1, most=1024)]
"""The number of heads of a layer."""
HeadIndex = Annotated[int, Range(least=-1024, most=1023)]
"""A head of a layer, counted from 0; a negative one counts from the end."""
Beam = Annotated[int, Range(least=1, most=1000)]
"""The number of live hypotheses per sentence. Each needs its own decoder state, so thousands do not fit in memory."""
Seed = Annotated[int, Range(least=0, most=2**32 - 1)]
"""A seed that torch, NumPy and Python's `random` all take."""
Positive = Annotated[float, Range(above=0)]
"""Any number above 0."""
NonNegative = Annotated[float, Range(least=0)]
"""Any number from 0 on."""
Probability = Annotated[float, Range(least=0, most=1)]
"""A probability."""
Fraction = Annotated[float, Range(least=0, below=1)]
"""A probability or a rate of decay that cannot be 1 (dropout, smoothed mass, betas)."""
LearningRate = Annotated[float, Range(above=0, most=1)]
"""A learning rate."""
Exponent = Annotated[float, Range(least=-10, most=10)]
"""The exponent of a length penalty; a negative one prefers short hypotheses."""


def ranges_in(hint: Any) -> Iterator[Range]:
    """Return the ranges in a type hint, wherever they occur in it."""
    if typing.get_origin(hint) is Annotated:
        yield from (extra for extra in hint.__metadata__ if isinstance(extra, Range))
    for inner in typing.get_args(hint):
        yield from ranges_in(inner)


def check_ranges(value: Any, hint: Any, *, name: str) -> None:
    """Raise a `ValueError` if a number in `value` is outside the range that its type hint gives it."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if value is None:
        return
    if origin is Annotated:
        for range_ in hint.__metadata__:
            if isinstance(range_, Range) and isinstance(value, int | float) and value not in range_:
                raise ValueError(f"{name} must be {range_}, not {value}")
        check_ranges(value, arguments[0], name=name)
    elif origin in (Union, types.UnionType):
        for choice in arguments:
            check_ranges(value, choice, name=name)
    elif origin is tuple and isinstance(value, list | tuple):
        every = arguments[:1] * len(value) if arguments[-1] is Ellipsis else arguments
        for i, (item, inner) in enumerate(zip(value, every, strict=True)):
            check_ranges(item, inner, name=f"{name}[{i}]")
    elif origin is dict and isinstance(value, Mapping):
        for key, item in value.items():
            check_ranges(item, arguments[1], name=f"{name}.{key}")


hints_of = functools.cache(functools.partial(typing.get_type_hints, include_extras=True))
"""The type hints of a class, with the ranges in them."""


@functools.cache
def _ranged_fields(cls: type) -> tuple[tuple[str, Any], ...]:
    hints = hints_of(cls)
    names = (field.name for field in dataclasses.fields(cls))
    return tuple((name, hints[name]) for name in names if any(ranges_in(hints[name])))


@dataclass_transform(frozen_default=True, kw_only_default=True)
def settings_class(cls: type[T]) -> type[T]:
    """Make a class of settings: a frozen dataclass with keyword-only fields whose numbers must be in their ranges.

    The ranges are checked whenever an object is made: from a file, from the command line or by `dataclasses.replace`.
    A number outside its range is a `ValueError`. The class's own `__post_init__` runs afterwards.
    """
    own: Callable[[T], None] | None = cls.__dict__.get("__post_init__")

    def check(self: T) -> None:
        for name, hint in _ranged_fields(type(self)):
            check_ranges(getattr(self, name), hint, name=name)
        if own is not None:
            own(self)

    if own is not None or not hasattr(cls, "__post_init__"):
        cls.__post_init__ = check
    return dataclass(frozen=True, kw_only=True)(cls)
