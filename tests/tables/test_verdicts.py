"""Verdicts on claims, by the place of our interval."""

from dataclasses import replace

import numpy as np
import pytest
from evaluation.test_differences import sampled_runs
from reporting.planned import claim, control

from nmtcore.evaluation.compare import difference_of
from nmtcore.tables.verdicts import judge_claim

CONTROL = control("control")
CLAIMS = {name: claim(direction=name, controls=(CONTROL,)) for name in ("gain", "loss", "no_gain")}


def our_difference(delta):
    """A difference with three seeds and an interval of about -+.9 around it."""
    noise_A = np.random.default_rng(1).normal(0, 0.3, 1000)
    system = sampled_runs([20 + delta, 20.3 + delta, 19.7 + delta], 20 + delta + noise_A)
    return difference_of(system, sampled_runs([20, 20.3, 19.7], np.full(1000, 20.0)))


@pytest.mark.parametrize(
    ("direction", "answers"),
    [
        ("gain", ["upheld", "contradicted", "not decided"]),
        ("loss", ["contradicted", "upheld", "not decided"]),
        ("no_gain", ["contradicted", "upheld", "not decided"]),
    ],
)
def test_the_interval_decides(direction, answers):
    for delta, answer in zip((3.0, -3.0, 0.5), answers, strict=True):
        ours = our_difference(delta)
        assert (ours.interval[0] > 0, ours.interval[1] < 0) == (delta > 1, delta < -1)
        assert judge_claim(CLAIMS[direction], ours, controls=["no parser"])[:3] == (answer, "", ours)


@pytest.mark.parametrize(
    ("interval", "answers"),
    [
        ((-0.5, 0.5), ("upheld", "upheld")),
        ((0.2, 0.6), ("upheld", "upheld")),
        ((0.2, 1.0), ("contradicted", "upheld")),
        ((-0.5, 1.5), ("not decided", "upheld")),
        ((-0.5, 2.0), ("not decided", "not decided")),
        ((0.2, 2.5), ("contradicted", "contradicted")),
    ],
)
def test_no_gain_is_upheld_below_a_margin(interval, answers):
    ours = replace(our_difference(0.0), interval=interval)
    assert CLAIMS["no_gain"].margin == 1
    named = replace(CLAIMS["no_gain"], margin=2.0)
    assert tuple(judge_claim(claim, ours).answer for claim in (CLAIMS["no_gain"], named)) == answers


@pytest.mark.parametrize("direction", ["gain", "loss", "no_gain"])
def test_one_seed_decides_nothing(direction):
    for delta in (3.0, -3.0):
        ours = replace(our_difference(delta), seed_error=None)
        verdict = judge_claim(CLAIMS[direction], ours)
        assert verdict[:3] == ("not decided", "one seed, so that training noise is unknown", ours)


def test_a_gain_of_a_control_is_marked_and_those_that_were_not_run_are_told_apart():
    single = replace(our_difference(2.0), seed_error=None)
    for compared, gains, reason in (
        (our_difference(2.0), True, ""),
        (our_difference(0.1), False, ""),
        (our_difference(-2.0), False, ""),
        ("no parser", None, "no parser"),
        (single, None, "one seed, so that training noise is unknown"),
    ):
        verdict = judge_claim(CLAIMS["gain"], our_difference(3.0), controls=[compared])
        assert verdict.controls == ((CONTROL[0], gains, reason),)
        assert verdict.also_by == (CONTROL[0],) * bool(gains)
        assert judge_claim(CLAIMS["gain"], our_difference(0.1), controls=[compared]).controls == ()
        assert judge_claim(CLAIMS["loss"], our_difference(-3.0), controls=[compared]).controls == ()


def test_a_difference_with_a_reason_decides_nothing_and_what_was_not_run_has_a_reason():
    verdict = judge_claim(CLAIMS["gain"], our_difference(3.0), reason="too few sentences")
    assert (verdict.answer, verdict.reason, verdict.also_by) == ("not decided", "too few sentences", ())
    verdict = judge_claim(CLAIMS["gain"], None, reason="no corpus")
    assert (verdict.answer, verdict.reason, verdict.difference) == ("not run", "no corpus", None)
