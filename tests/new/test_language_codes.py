"""Codes of languages that `nmtcore new dataset` takes."""

import pytest

from nmtcore.errors import UserError
from nmtcore.new.language_codes import TWO_LETTERS, check_language_code


@pytest.mark.parametrize("code", ["en", "cs", "ja", "hsb", "gsw"])
def test_codes_of_two_letters_or_of_three_without_two(code):
    check_language_code(code, where="here")


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        *[("EN", "en"), ("de-DE", "de"), ("en_GB", "en"), ("eng", "en"), ("ger", "de"), ("cz", "cs"), ("xx", None)],
        *[("", None), ("german", None), ("é", None), ("../cs", None), ("e n", None)],
    ],
)
def test_other_codes_are_refused_in_one_sentence(code, hint):
    with pytest.raises(UserError) as caught:
        check_language_code(code, where="--source")
    message = str(caught.value)
    assert message.startswith(f"--source: '{code}' is no language code: ")
    assert message.endswith(f"Did you mean {hint}?" if hint else "no two).")


def test_there_are_the_codes_of_iso_639_1():
    assert len(TWO_LETTERS) == 183
    assert {len(code) for code in TWO_LETTERS} == {2}
