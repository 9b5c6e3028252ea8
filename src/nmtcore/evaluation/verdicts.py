"""What our results say about a claim of a paper: upheld, contradicted, not decided, or not run."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

from nmtcore.config.claims import Claim, TrainedSystem
from nmtcore.evaluation.differences import Difference

Answer = Literal["upheld", "contradicted", "not decided", "not run"]

ANSWERS: tuple[Answer, ...] = get_args(Answer)
"""All answers."""


class Verdict(NamedTuple):
    """What our results say about a claim."""

    answer: Answer
    reason: str
    """Why nothing was run, or why there is no verdict; empty otherwise."""
    difference: Difference | None
    """Ours; it also says what could have been detected, and whether it includes training noise."""
    also_by: tuple[TrainedSystem, ...]
    """Controls that gain over the same baseline as well, so that the gain may have another cause."""

    @property
    def without_training_noise(self) -> bool:
        """Whether the interval that decides is the bootstrap's alone, since a system has one seed."""
        return self.difference is not None and not self.reason and not self.difference.with_training_noise


def judge_claim(
    claim: Claim,
    difference: Difference | None,
    *,
    scale: str,
    verdicts: bool = True,
    controls: Mapping[TrainedSystem, Difference] | None = None,
    reason: str = "",
) -> Verdict:
    """Judge a claim by the interval of our difference, system minus baseline.

    A gain is upheld if the interval is above 0 and contradicted if it is below; a loss the other way round. That there
    is no gain is contradicted by an interval above 0 and upheld by one below 0: an interval around 0 decides nothing.

    Args:
        claim: the claim.
        difference: our difference; None if one of the systems was not run.
        scale: the scale of the runs.
        verdicts: whether results at this scale decide claims.
        controls: differences between controls of the claim and its baseline, as far as they were run.
        reason: why there is no difference, or why it decides nothing.

    Raises:
        ValueError: if there is neither a difference nor a reason.
    """
    if difference is None:
        if not reason:
            raise ValueError(f"no reason why {claim.system.system} was not compared with {claim.baseline.system}")
        return Verdict("not run", reason, None, ())
    if not verdicts:
        reason = f"the scale {scale} is too small for a verdict"
    if reason:
        return Verdict("not decided", reason, difference, ())
    low, high = difference.interval
    gains, loses = low > 0, high < 0
    upheld, contradicted = (gains, loses) if claim.direction == "gain" else (loses, gains)
    answer: Answer = "upheld" if upheld else "contradicted" if contradicted else "not decided"
    also = [name for name, other in (controls or {}).items() if name in claim.controls and other.interval[0] > 0]
    return Verdict(answer, "", difference, tuple(also) if claim.direction == "gain" and upheld else ())
