"""A broken corpus gives an error message and no output files."""

import gzip

import pytest
from workflow.calling import little

from nmtcore.files import read_json


def write_dataset(workplace, name, content, **pinned):
    """A data set like `little` whose training source is another file."""
    (workplace.mirror / f"{name}.en").write_bytes(content)
    settings = little()
    entry = {"name": f"{name}/train.en", "mirrors": [{"path": f"{name}.en", **pinned}]}
    settings["corpora"]["train"]["files"]["source"] = entry
    workplace.write(f"datasets/{name}", settings)


def valid_source(workplace):
    return (workplace.mirror / "train.en").read_bytes()


def check_refused(workplace, name, *parts):
    target = f"results/{name}/corpus/train.parquet"
    for _ in range(2):  # files of the first call must not hide the error from the second
        stopped = workplace.call("--cores", "1", target)
        assert stopped.code == 1, stopped.output
        lines = [line for line in stopped.output.splitlines() if all(part in line for part in parts)]
        assert lines, stopped.output
        assert "Traceback" not in stopped.output
        assert ".smk" not in stopped.output, "the message names none of our files"
        files = [path for path in (workplace.folder / f"results/{name}").rglob("*") if path.is_file()]
        assert files == []
    assert workplace.partial_files() == []


def test_unequal_numbers_of_lines(workplace):
    write_dataset(workplace, "unequal", b"".join(valid_source(workplace).splitlines(keepends=True)[:-1]))
    check_refused(workplace, "unequal", "downloads/unequal/train.en", "149", "150")


def test_a_truncated_gzip_file(workplace):
    write_dataset(workplace, "truncated", gzip.compress(valid_source(workplace))[:-200])
    check_refused(workplace, "truncated", "downloads/truncated/train.en")


def test_a_wrong_checksum(workplace):
    write_dataset(workplace, "forged", valid_source(workplace), sha256="0" * 64)
    check_refused(workplace, "forged", "its sha256 is", "0" * 64)
    assert not list((workplace.folder / "downloads").glob("forged/*"))


@pytest.mark.parametrize(("name", "byte"), [("latin", b"\xe9"), ("nulls", b"\0")])
def test_a_line_that_is_not_utf_8_text(workplace, name, byte):
    lines = valid_source(workplace).splitlines(keepends=True)
    lines[41] = byte + lines[41]
    write_dataset(workplace, name, b"".join(lines))
    check_refused(workplace, name, f"downloads/{name}/train.en", "42")


def test_a_file_in_utf_16(workplace):
    write_dataset(workplace, "wide", valid_source(workplace).decode().encode("utf-16"))
    check_refused(workplace, "wide", "downloads/wide/train.en is UTF-16, not UTF-8: convert it (iconv -f UTF-16")


def test_unsegmented_text_gives_a_warning(workplace):
    write_dataset(
        workplace, "japanese", "吾輩は猫である、名前はまだ無い、どこで生れたかとんと見当がつかぬ。\n".encode() * 150
    )
    workplace.edit("datasets/japanese", source="ja")
    finished = workplace.run("results/japanese/corpus/raw/train.parquet")
    hint = "japanese, split train: The source side has `words: spaces`, but the text looks unsegmented (average "
    assert finished.output.count(hint) == 1
    assert hint in (workplace.folder / "results/logs/japanese/corpus/raw.train.log").read_text(encoding="utf-8")
    report = read_json(workplace.folder / "results/japanese/corpus/raw/train.json")
    assert [warning.endswith("did you mean `mecab`?") for warning in report["warnings"]] == [True]
