"""The share that is done and the time left, against simulated work at a steady speed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.console.stages import TRUSTED, Stage, time_left


def test_a_steady_stage_says_the_time_that_it_will_take():
    stage = Stage(name="s", expected=1.0)
    stage.begin(100.0)
    for second in range(40):
        stage.report(second / 40)
        left = stage.seconds_left(100.0 + second)
        assert (left is None) == (second < 2), "after a twentieth, its speed counts"
        assert left is None or left == pytest.approx(40 - second)


def test_what_earlier_work_has_done_does_not_count_as_speed():
    stage = Stage(name="s", expected=1.0)
    stage.begin(0.0)
    stage.report(0.5)
    assert stage.seconds_left(1.0) is None
    stage.report(0.75)
    assert stage.seconds_left(10.0) == pytest.approx(10.0), "the second half takes 20 seconds"


@given(
    expected=st.lists(st.floats(5, 300), min_size=1, max_size=5),
    slower=st.floats(0.3, 4.0),
    share=st.floats(0.02, 0.98),
)
def test_the_time_left_of_steady_stages_is_between_the_estimate_and_the_truth(expected, slower, share):
    """One stage after another, each `slower` times as long as expected; `share` of the whole is done."""
    passed, stages = share * sum(expected) * slower, []
    now, time = passed, 0.0
    for number, seconds in enumerate(expected):
        stage = Stage(name=str(number), expected=seconds)
        if time < now:
            stage.begin(time)
            stage.report(0.0)
            stage.report(min(1.0, (now - time) / (seconds * slower)))
        if time + seconds * slower <= now:
            stage.end(time + seconds * slower)
        time += seconds * slower
        stages.append(stage)
    truth, estimate = (1 - share) * sum(expected) * slower, (1 - share) * sum(expected)
    left = time_left(stages, now)
    assert min(truth, estimate) - 1e-6 <= left <= max(truth, estimate) + 1e-6
    weight = passed / slower / (passed / slower + TRUSTED)
    running = max(stage.seconds_left(now) or 0.0 for stage in stages)
    weighted = weight * truth + (1 - weight) * estimate
    assert left == pytest.approx(max(weighted, running)), "with time, the measured speed counts"


def test_before_anything_happens_the_estimates_count():
    stages = [Stage(name="a", expected=30.0), Stage(name="b", expected=70.0)]
    assert time_left(stages, 5.0) == pytest.approx(100.0)
    stages[0].share = 1.0
    assert time_left(stages, 5.0) == pytest.approx(70.0), "it was finished earlier"


def test_the_status_says_what_has_happened():
    stage = Stage(name="s", expected=1.0)
    assert stage.status(0.0) == ""
    stage.begin(0.0)
    assert stage.status(1.0) == "running"
    stage.report(0.0, "update 0 of 4")
    stage.report(0.25, "update 1 of 4")
    assert stage.status(15.0) == "update 1 of 4, 45 s left"
    stage.end(61.0)
    assert stage.status(99.0) == "1 min 1 s"
    assert stage.share == 1.0
    assert Stage(name="s", expected=1.0, share=1.0).status(0.0) == "finished earlier"


def test_a_failed_stage_keeps_its_share_until_it_is_tried_again():
    stage = Stage(name="s", expected=1.0)
    stage.begin(0.0)
    stage.report(0.5)
    stage.end(20.0, failed=True)
    assert (stage.status(30.0), stage.share, stage.seconds_left(30.0)) == ("failed after 20 s", 0.5, None)
    stage.begin(31.0)
    assert stage.status(31.0) == "running"
