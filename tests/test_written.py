"""Files between the jobs are compared with what the jobs wrote, and outputs that a plan did not replace are known."""

import pytest

from nmtcore.errors import UserError
from nmtcore.layout import Layout
from nmtcore.unfinished import record_plan, unfinished
from nmtcore.written import check_inputs, record_outputs

OUTPUTS = ["results/codes", "results/scores.json", "results/pairs.parquet"]


@pytest.fixture
def layout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Layout()


@pytest.fixture
def written(tmp_path, layout):
    """A working folder with recorded outputs."""
    (tmp_path / "results/codes").mkdir(parents=True)
    for name, text in (
        ("codes/source.vocab", "a\nb\n"),
        ("codes/.hidden", "x"),
        ("scores.json", "{}"),
        ("pairs.parquet", "p"),
    ):
        (tmp_path / "results" / name).write_text(text)
    record_outputs(OUTPUTS, layout=layout)
    return tmp_path


def test_what_was_written_is_accepted_and_recorded_again_if_it_is_made_again(written, layout):
    (written / "results/codes/.hidden").write_text("y")
    check_inputs([*OUTPUTS, "results/of_an_earlier_version.json"], layout=layout)
    (written / "results/scores.json").write_text('{"bleu": 1.6}')
    record_outputs(OUTPUTS, layout=layout)
    check_inputs(OUTPUTS, layout=layout)


@pytest.mark.parametrize(
    ("file", "output", "content"),
    [
        ("results/scores.json", "results/scores.json", '{"bleu": 1.6}'),
        ("results/scores.json", "results/scores.json", ""),
        ("results/codes/source.vocab", "results/codes", "a\n"),
        ("results/pairs.parquet", "results/pairs.parquet", "pairs of another corpus"),
    ],
)
def test_changed_files_are_named_and_so_is_what_to_do(written, layout, file, output, content):
    (written / file).write_text(content)
    sentence = rf"^{file} is not as the workflow wrote it, .*: delete {output} and run the workflow again\. To use it"
    with pytest.raises(UserError, match=sentence) as error:
        check_inputs(OUTPUTS, layout=layout)
    (record,) = (word for word in str(error.value).split() if word.startswith(layout.path("written")))
    (written / record).unlink()
    check_inputs(OUTPUTS, layout=layout)


def test_a_missing_file_of_a_folder_is_an_error(written, layout):
    (written / "results/codes/source.vocab").unlink()
    with pytest.raises(UserError, match=r"results/codes/source\.vocab is missing: delete results/codes and run"):
        check_inputs(OUTPUTS, layout=layout)


def test_outputs_of_a_plan_are_recorded_until_they_exist(tmp_path, layout):
    record_plan(["one", "two"], layout=layout)
    assert unfinished(layout) == ["one", "two"]
    (tmp_path / "one").touch()
    record_plan(["other"], layout=layout)
    assert unfinished(layout) == ["other", "two"], "the missing output of the earlier plan, too"
    (tmp_path / "other").touch()
    record_plan([], layout=layout)
    assert unfinished(layout) == ["two"], "the later plan has succeeded, the earlier one has not"
    (tmp_path / "two").touch()
    record_plan([], layout=layout)
    assert not any((tmp_path / "results/logs/unfinished").iterdir())


@pytest.mark.parametrize(
    "content", [b"", b"[", b"[3]", b'{"sha256": 3}', b'{"sha256": {"": 1}', b'["a\\u0000b"]', b"\xff"]
)
def test_a_damaged_record_is_named(written, layout, content):
    record_plan(["x"], layout=layout)
    for folder in ("written", "unfinished"):
        for record in (written / "results/logs" / folder).iterdir():
            record.write_bytes(content)
    with pytest.raises(UserError, match=r"logs/written/\w+\.json.*: delete it"):
        check_inputs(OUTPUTS, layout=layout)
    with pytest.raises(UserError, match=r"logs/unfinished/plan\.json"):
        unfinished(layout)
