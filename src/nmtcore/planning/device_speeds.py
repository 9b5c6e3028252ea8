"""The speed of training on a device: that of this folder's finished runs or, without any, that of `speeds.yaml`."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median

from nmtcore.config.runs import RunSettings
from nmtcore.config.speeds import DeviceSettings, TrainingSpeed


@dataclass(frozen=True, kw_only=True)
class FinishedRun:
    """A run of the results folder whose training has ended."""

    run: RunSettings
    device: str
    """The device's name."""
    seconds: float
    """Time of training, with validation."""
    operations: float
    """Operations of training and validation, by the same count as those that are estimated."""


@dataclass(kw_only=True)
class TrainingSpeeds:
    """Speeds in operations per second, by base and width of the model; notes which of them were used."""

    device: DeviceSettings
    own: Mapping[tuple[str, int], list[FinishedRun]] = field(default_factory=dict)
    """Finished runs on such a device, by base and width."""
    used: set[tuple[str, int] | str] = field(default_factory=set)
    """What was asked for: keys of `own`, and "measured" or "assumed" for the device's own figures."""

    @classmethod
    def of(cls, device: DeviceSettings, finished: Iterable[FinishedRun]) -> "TrainingSpeeds":
        """Sort finished runs by base and width."""
        own = defaultdict(list)
        for entry in finished:
            own[entry.run.base, entry.run.model.width].append(entry)
        return cls(device=device, own=dict(own))

    def seconds(self, run: RunSettings, *, updates: float, operations: float) -> float | None:
        """Estimate the time of a number of updates that take some operations in all; None: the speed is unknown."""
        key = (run.base, run.model.width)
        if key in self.own:
            self.used.add(key)
            return operations / median(entry.operations / entry.seconds for entry in self.own[key])
        points = [point for point in self.device.training if point.base == run.base]
        peak = getattr(self.device.peak_teraflops, run.training.precision)
        if points:
            self.used.add("measured")
            rate = interpolated(points, run.model.width)
        elif self.device.share_of_peak is not None and peak is not None:
            self.used.add("assumed")
            rate = self.device.share_of_peak * peak * 1e12
        else:
            return None
        return operations / rate + updates * self.device.seconds_per_update

    def sentences(self) -> list[str]:
        """Say which speeds were used."""
        own = [entry for key in self.used if not isinstance(key, str) for entry in self.own[key]]
        sentences = []
        if own:
            names = ", ".join(sorted({entry.device for entry in own}))
            widths = ", ".join(map(str, sorted({entry.run.model.width for entry in own})))
            count = f"{len(own)} finished run{'s' if len(own) > 1 else ''}"
            sentences.append(f"Speed at width {widths}: that of {count} of this folder ({names}).")
        if self.used & {"measured", "assumed"}:
            elsewhere = "Other speeds" if own else "Speeds"
            sentences.append(
                f"{elsewhere}: {self.device.description}, by speeds.yaml: {' '.join(self.device.source.split())}."
            )
        return sentences


def search_share(device: DeviceSettings, run: RunSettings) -> float:
    """Return the speed of search relative to training: by fp32, in which it computes, where peaks are all we know."""
    peaks = device.peak_teraflops
    peak = getattr(peaks, run.training.precision)
    if peak is None or peaks.fp32 is None or any(point.base == run.base for point in device.training):
        return device.search
    return device.search * peaks.fp32 / peak


def interpolated(points: Iterable[TrainingSpeed], width: int) -> float:
    """Return the speed at a width, in operations per second.

    Between two measured widths it is linear in their logarithms; beyond the last it is that of the last.
    """
    known = sorted((point.width, point.gigaflops * 1e9) for point in points)
    below = [entry for entry in known if entry[0] <= width]
    above = [entry for entry in known if entry[0] >= width]
    if not below or not above or below[-1][0] == above[0][0]:
        return (below[-1] if below else above[0])[1]
    (low, slow), (high, fast) = below[-1], above[0]
    share = math.log(width / low) / math.log(high / low)
    return math.exp(math.log(slow) + share * (math.log(fast) - math.log(slow)))
