"""What our results say about a claim of a paper: upheld, contradicted, not decided, or not run."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from nmtcore.evaluation.compare import Difference
from nmtcore.tables.cells import Cell, Claim

Answer = Literal["upheld", "contradicted", "not decided", "not run"]

ANSWERS: tuple[Answer, ...] = get_args(Answer)
"""All answers."""


SINGLE_SEED = "one seed, so that training noise is unknown"
"""Why there is no verdict on a difference of which a system has one seed."""


class JudgedControl(NamedTuple):
    """A control of a claim, and whether it gains over the claim's baseline."""

    cell: Cell
    gains: bool | None
    """Whether its interval is above 0; None if it was not run or has one seed."""
    reason: str = ""
    """Why that is not known."""


class Verdict(NamedTuple):
    """What our results say about a claim."""

    answer: Answer
    reason: str
    """Why nothing was run, or why there is no verdict; empty otherwise."""
    difference: Difference | None
    """Ours; it also says what could have been detected, and whether it includes training noise."""
    controls: tuple[JudgedControl, ...]
    """The claim's controls if it is a gain that is upheld, else none."""

    @property
    def also_by(self) -> tuple[Cell, ...]:
        """Controls that gain over the same baseline as well, so that the gain may have another cause."""
        return tuple(control.cell for control in self.controls if control.gains)


def judge_claim(
    claim: Claim,
    difference: Difference | None,
    *,
    controls: Sequence[Difference | str] = (),
    reason: str = "",
) -> Verdict:
    """Judge a claim by the interval of our difference, system minus baseline.

    A gain is upheld if the interval is above 0 and contradicted if it is below; a loss the other way round. That there
    is no gain is upheld if the interval is below the claim's margin, and contradicted if it is above 0 and not below
    the margin. An interval that leaves training noise out, since a system has one seed, decides nothing.

    Args:
        claim: the claim.
        difference: our difference; None if one of the systems was not run.
        controls: for each control of the claim its difference from the baseline, or why there is none.
        reason: why there is no difference, or why it decides nothing.
    """
    if difference is None:
        return Verdict("not run", reason, None, ())
    if not reason and not difference.with_training_noise:
        reason = SINGLE_SEED
    if reason:
        return Verdict("not decided", reason, difference, ())
    low, high = difference.interval
    upheld, contradicted = {
        "gain": (low > 0, high < 0), "loss": (high < 0, low > 0), "no_gain": (high < claim.margin, low > 0),
    }[claim.direction]  # fmt: skip
    answer: Answer = "upheld" if upheld else "contradicted" if contradicted else "not decided"
    is_explained = claim.direction == "gain" and upheld
    judged = zip((cell for cell, _ in claim.controls), controls, strict=True) if is_explained else ()
    return Verdict(answer, "", difference, tuple(_judged_control(cell, compared) for cell, compared in judged))


def _judged_control(cell: Cell, compared: Difference | str) -> JudgedControl:
    if isinstance(compared, str):
        return JudgedControl(cell, None, compared)
    if not compared.with_training_noise:
        return JudgedControl(cell, None, SINGLE_SEED)
    return JudgedControl(cell, compared.interval[0] > 0)
