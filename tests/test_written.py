"""Outputs are compared with what jobs wrote, and with what they would be made from now."""

import os

import pytest

from nmtcore.errors import UserError
from nmtcore.layout import Layout
from nmtcore.reporting.verify import verify
from nmtcore.written import Records

PAIRS, CODES, SCORES = OUTPUTS = ["results/d/corpus/dev.parquet", "results/d/segmentation/bpe_2000", "results/d/s.bleu"]
SETTINGS = {"version": 3, "filters": {"most": 80}}


@pytest.fixture
def layout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Layout()


@pytest.fixture
def written(tmp_path, layout):
    """A working folder with a text, and recorded outputs that were made from it."""
    (tmp_path / CODES).mkdir(parents=True)
    (tmp_path / PAIRS).parent.mkdir()
    files = {"text.en": "a b\n", f"{CODES}/source.vocab": "a\nb\n", f"{CODES}/.hidden": "x", PAIRS: "p", SCORES: "{}"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    records = Records(layout)
    records.write(OUTPUTS, rule="filter_split", made_from=records.made_from(["text.en"], SETTINGS))
    return tmp_path


def check(layout, paths=OUTPUTS):
    for path in paths:
        Records(layout).check(path)


def difference(layout, inputs=("text.en",), **changes):
    records = Records(layout)
    return records.difference(OUTPUTS, records.made_from(inputs, SETTINGS | changes))


def test_what_was_written_is_accepted_and_recorded_again_if_it_is_made_again(written, layout):
    (written / f"{CODES}/.hidden").write_text("y")
    check(layout, [*OUTPUTS, "results/of_an_earlier_version.json"])
    (written / SCORES).write_text('{"bleu": 1.6}')
    Records(layout).write([SCORES], rule="x", made_from={"settings": {}, "inputs": {}})
    check(layout)


@pytest.mark.parametrize(
    ("file", "output", "content"),
    [
        (SCORES, SCORES, ""),
        (f"{CODES}/source.vocab", CODES, "a\n"),
    ],
)
def test_changed_files_are_named_and_so_is_what_to_do(written, layout, file, output, content):
    (written / file).write_text(content)
    sentence = rf"^{file} is not as the workflow wrote it, .*: delete {output} and run the workflow again\. To use it"
    with pytest.raises(UserError, match=sentence) as error:
        check(layout)
    (record,) = (word for word in str(error.value).split() if word.startswith(layout.path("written")))
    (written / record).unlink()
    check(layout)


@pytest.mark.parametrize("content", [b"", b"[3]", b'{"sha256": 3}'])
def test_a_damaged_record_is_named(written, layout, content):
    for record in (written / layout.path("written")).iterdir():
        record.write_bytes(content)
    with pytest.raises(UserError, match=r"logs/written/\w+\.json.*: delete it"):
        check(layout)


def test_other_settings_versions_and_inputs_are_differences(written, layout):
    assert difference(layout) == ("", ())
    assert difference(layout, version=4, more=None) == ("version 3, now 4, more", ())
    assert difference(layout, filters={"most": 60}).settings == "filters"
    (written / "other.en").write_text("b\n")
    assert difference(layout, ["text.en", "other.en"]).inputs == ("other.en",)
    assert difference(layout, ["other.en"]).inputs == ("text.en", "other.en")
    os.rename("text.en", "moved.en")
    assert difference(layout, ["moved.en"]) == ("", ()), "the same text"
    assert difference(layout, ["text.en"]) == ("", ()), "what was read is no longer needed"


def test_outputs_that_are_accepted_are_up_to_date_and_still_as_they_were_made(written, layout):
    records = Records(layout)
    records.file(SCORES).unlink()
    assert difference(layout) is None, "nothing says what the scores were made from"
    (written / PAIRS).write_text("edited")
    records = Records(layout)
    records.complete(OUTPUTS, rule="x", made_from=records.made_from(["text.en"], SETTINGS | {"version": 4}))
    assert not difference(layout, version=4)
    with pytest.raises(UserError, match="edited"):
        check(layout)


def test_verifying_lists_what_is_not_as_it_was_made(written, layout):
    assert verify(layout, {"filter_split": 3}) == ["As they were made: 3 results."]
    (written / SCORES).unlink()
    (written / "results/d/corpus/test.parquet").touch()
    Records(layout).write(["results/d/corpus/test.parquet"], rule="other", made_from={"settings": {}, "inputs": {}})
    (written / "results/d/corpus/train.parquet").touch()
    lines = verify(layout, {"filter_split": 4})
    kinds = [line.partition(":")[0] for line in lines]
    assert kinds == [
        "As they were made", "Unknown (1)", "  results/d/corpus/train.parquet", "Older (2)", f"  {PAIRS}", f"  {CODES}",
        "Missing (1)", f"  {SCORES}",
    ]  # fmt: skip
    (written / PAIRS).write_text("q")
    with pytest.raises(UserError, match=rf"Damaged \(1\): .*\n  {PAIRS}$"):
        verify(layout, {"filter_split": 3})
