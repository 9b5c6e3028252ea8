"""Gate norms as coloured text."""

import re

import numpy as np
import pytest

from nmtcore.inference.gate_files import GatedSentence
from nmtcore.inference.render_gates import TERMINAL_COLOURS, plain_line, shades, terminal_line

SENTENCE = GatedSentence("A <b> & c", ["x@@", '<script>"', "&", "é"], np.array([2.0, 3.0, 2.5, 2.25]))


def test_shades_are_relative_to_the_sentence():
    assert shades(SENTENCE.norms).tolist() == [0, 1, 0.5, 0.25]
    assert shades(np.array([3.0, 3.0])).tolist() == [1, 1]
    assert shades(np.zeros(0)).tolist() == []


def test_the_terminal_shows_larger_norms_darker_and_the_largest_bold():
    line = terminal_line(SENTENCE)
    assert re.sub(r"\x1b\[[0-9;]*m", "", line) == " ".join(SENTENCE.pieces)
    backgrounds = [TERMINAL_COLOURS.index(int(colour)) for colour in re.findall(r"48;5;(\d+)m", line)]
    assert backgrounds == [0, 7, 4, 2]
    assert re.findall(r"\x1b\[(1;)?\d+;48", line) == ["", "1;", "", ""]
    assert line.count("\x1b[0m") == 4


def test_lines_without_colour_have_the_norms():
    assert plain_line(SENTENCE) == 'x@@[2.00] *<script>"[3.00] &[2.50] é[2.25]'


@pytest.mark.parametrize("line_of", [plain_line, terminal_line])
def test_an_empty_sentence_is_an_empty_line(line_of):
    assert line_of(GatedSentence("", [], np.zeros(0))) == ""
