"""Shifts of made-up and real lengths; text of which lengths cannot tell is left alone."""

import random

import numpy as np
import pytest

from nmtcore.new.shifts import correlation, find_shifts

CORPORA = {
    "multi30k": [("train", "en", "de"), ("val", "cs", "en"), ("test_2016_flickr", "de", "cs")],
    "news/en-ja": [("train", "en", "ja"), ("test", "en", "ja")],
    "news/en-tr": [("train", "en", "tr"), ("dev", "en", "tr")],
    "news/cs-en": [("train", "cs", "en"), ("test", "cs", "en")],
}


def made_up(count, seed):
    """Make lengths of sentences and of their translations."""
    draw = np.random.default_rng(seed)
    source = draw.integers(20, 200, count)
    return source, (source * draw.normal(1.1, 0.1, count)).astype(int)


def shifted(source, target, place, lines):
    """Delete lines of the source (of the target if negative) at a place, and as many of the other side at the end."""
    if lines < 0:
        return shifted(target, source, place, -lines)[::-1]
    return np.delete(source, slice(place, place + lines)), target[:-lines]


@pytest.mark.parametrize("count", [300, 1000, 3000])
@pytest.mark.parametrize("lines", [1, -30])
@pytest.mark.parametrize("part", [0, 0.5])
def test_a_shift_is_found_with_its_lines_and_its_place(count, lines, part):
    place = int(part * count)
    source, target = shifted(*made_up(count, seed=count), place, lines)
    (shift,) = find_shifts(source, target)
    assert shift.lines == lines
    assert abs(shift.first - place) <= 5 + abs(lines)
    assert abs(shift.end - len(source)) <= 5 + abs(lines)
    ranks = [np.searchsorted(np.sort(own), own) for own in (source, target)]
    now = np.corrcoef(ranks[0][shift.first : shift.end], ranks[1][shift.first : shift.end])[0, 1]
    assert shift.correlation == pytest.approx(now, abs=0.02)
    assert shift.correlation < 0.3 < 0.8 < shift.shifted


def test_each_of_two_stretches_is_found():
    """A line is missing in the source, later one in the target; later still, three in the source."""
    source, target = made_up(4000, seed=1)
    source = np.delete(source, 1000)
    target = np.delete(target, 2000)
    source, target = np.delete(source, [3000, 3001, 3002]), target[:-3]
    shifts = find_shifts(source, target)
    assert [shift.lines for shift in shifts] == [1, 3]
    for shift, (first, end) in zip(shifts, [(1000, 2000), (3000, 3996)], strict=True):
        assert abs(shift.first - first) < 6
        assert abs(shift.end - end) < 6


def test_one_very_long_line_decides_nothing():
    source, target = made_up(1000, seed=2)
    target[500] = 100_000
    assert find_shifts(source, target) == []
    source, target = shifted(source, target, 300, 1)
    assert [shift.lines for shift in find_shifts(source, target)] == [1]


@pytest.mark.parametrize("seed", range(12))
def test_lengths_of_formulas_tell_nothing(seed):
    """Sentences of a few patterns, whose translations have any length: in turns, at random, in blocks, repeated."""
    draw = np.random.default_rng(seed)
    count, patterns = int(draw.integers(60, 3000)), int(draw.integers(1, 40))
    numbers = [
        np.arange(count) % patterns,
        draw.integers(0, patterns, count),
        np.sort(draw.integers(0, patterns, count)),
        np.repeat(np.arange(count), 5)[:count] % patterns,
    ][seed % 4]
    digits = np.array([len(str(row)) for row in range(count)])
    source, target = (draw.integers(10, 80, patterns)[numbers] + digits for _ in range(2))
    assert find_shifts(source, target) == []


def test_the_correlation_is_that_of_ranks():
    source, target = made_up(300, seed=4)
    ranks = [[np.mean(np.flatnonzero(np.sort(own) == value)) for value in own] for own in (source, target)]
    assert correlation(source, target) == pytest.approx(np.corrcoef(*ranks)[0, 1])
    assert correlation(source, np.full(300, 7)) is None


@pytest.mark.parametrize("folder", CORPORA)
def test_real_text_is_sound_and_its_shifts_are_found(folder, shared):
    draw = random.Random(folder)
    for name, *languages in CORPORA[folder]:
        files = [shared / f"data/{folder}/{name}.{language}" for language in languages]
        lines = [file.read_text(encoding="utf-8").split("\n")[:-1] for file in files]
        source, target = (np.array([len(line) for line in own]) for own in lines)
        assert correlation(source, target) > 0.7
        assert find_shifts(source, target) == []
        for lines_ in (1, -1, 4):
            place = draw.randrange(3 * len(source) // 4)
            shifts = find_shifts(*shifted(source, target, place, lines_))
            assert [shift.lines for shift in shifts] == [lines_]
            assert abs(shifts[0].first - place) < 40
        first = draw.randrange(len(source) - 300)
        part = [own[first : first + 300] for own in (source, target)]
        assert find_shifts(*part) == []
        assert [shift.lines for shift in find_shifts(*shifted(*part, 10, 1))] == [1]
