"""Vocabularies and their files, valid and invalid, with and without tags."""

import pytest

from nmtcore.errors import LineError, UserError
from nmtcore.segmentation.vocabulary import BOS, EOS, PAD, ROOT_ID, SPECIALS, UNK, Vocabulary, tag_entry

TAGS = ["N/N", "(S\\NP)/NP", "<TR>", "conj", "a@@"]


def test_tokens_are_converted_to_ids_and_back():
    """Special entries come first, and text that looks like one is unknown."""
    vocabulary = Vocabulary.of(["dog", "</s>", "cat"])
    assert [vocabulary.entries[i] for i in (PAD, UNK, BOS, EOS, ROOT_ID)] == ["<pad>", "<unk>", "<s>", "</s>", "<ROOT>"]
    assert vocabulary.ids(["cat", "dog", "bird", *SPECIALS]) == [6, 5, *[UNK] * 6]
    assert vocabulary.tokens([5, UNK, EOS]) == ["dog", "<unk>", "</s>"]
    assert len(vocabulary) == 7


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([*SPECIALS, "dog", "cat", "dog"], "'dog' is both entry 5 and entry 7"),
        ([*SPECIALS, "dog", "", "cat"], "entry 6 is empty"),
    ],
)
def test_invalid_entries_are_named(tmp_path, lines, message):
    (tmp_path / "vocab").write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError, match=message):
        Vocabulary.load(tmp_path / "vocab")


@pytest.mark.parametrize("lines", [["<pad>", "<unk>", "dog"], []])
def test_missing_special_entries_are_named_with_their_line(tmp_path, lines):
    (tmp_path / "vocab").write_text("".join(line + "\n" for line in lines))
    with pytest.raises(LineError, match=r"expected <(s|pad)>") as error:
        Vocabulary.load(tmp_path / "vocab")
    assert error.value.line == min(len(lines), 2) + 1


def test_an_extended_vocabulary_is_saved_and_loaded(tmp_path):
    old = Vocabulary.of(["N/N", "dog", "<TR>", "na\u2028me", " ", "\u0085"])
    new = old.extended(TAGS)
    assert new.entries[: len(old)] == old.entries
    assert new.ids([*old.entries, tag_entry("N/N")])[len(SPECIALS) :] == [*range(5, 12)]
    assert new.tokens(new.ids(map(tag_entry, TAGS))) == list(map(tag_entry, TAGS))
    assert new.ids([tag_entry("new")]) == [UNK]
    new.save(tmp_path / "vocab")
    assert Vocabulary.load(tmp_path / "vocab") == new
    assert old.extended([]) == old


@pytest.mark.parametrize("tags", [["a", "a"], [""]])
def test_invalid_tags_are_refused(tags):
    with pytest.raises(ValueError, match=r"is both entry|a tag is empty"):
        Vocabulary.of(["dog"]).extended(tags)
