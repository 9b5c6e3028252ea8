"""Files between the jobs are compared with what the jobs wrote."""

import pytest

from nmtcore.errors import UserError
from nmtcore.layout import Layout
from nmtcore.written import check_inputs, record_outputs


@pytest.fixture
def layout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results/codes").mkdir(parents=True)
    (tmp_path / "results/codes/source.vocab").write_text("a\nb\n")
    (tmp_path / "results/codes/.hidden").write_text("x")
    (tmp_path / "results/scores.json").write_text('{"bleu": 1.5}')
    (tmp_path / "results/pairs.parquet").write_text("pairs")
    layout = Layout()
    record_outputs(OUTPUTS, layout=layout)
    return layout


OUTPUTS = ["results/codes", "results/scores.json", "results/pairs.parquet"]


def test_what_was_written_is_accepted(layout, tmp_path):
    check_inputs(OUTPUTS, layout=layout)
    (tmp_path / "results/codes/.hidden").write_text("y")
    check_inputs([*OUTPUTS, "results/of_an_earlier_version.json"], layout=layout)


@pytest.mark.parametrize(
    ("file", "output", "content"),
    [
        ("results/scores.json", "results/scores.json", '{"bleu": 1.6}'),
        ("results/scores.json", "results/scores.json", ""),
        ("results/codes/source.vocab", "results/codes", "a\n"),
        ("results/pairs.parquet", "results/pairs.parquet", "pairs of another corpus"),
    ],
)
def test_changed_files_are_named_and_so_is_what_to_do(layout, tmp_path, file, output, content):
    (tmp_path / file).write_text(content)
    sentence = (
        rf"^{file} is not as the workflow wrote it, .*: delete {output} and run the workflow again\. To use it as"
    )
    with pytest.raises(UserError, match=sentence) as error:
        check_inputs(OUTPUTS, layout=layout)
    (record,) = (word for word in str(error.value).split() if word.startswith(layout.path("written")))
    (tmp_path / record).unlink()
    check_inputs(OUTPUTS, layout=layout)


def test_a_missing_file_of_a_folder_is_an_error(layout, tmp_path):
    (tmp_path / "results/codes/source.vocab").unlink()
    with pytest.raises(UserError, match=r"results/codes/source\.vocab is missing: delete results/codes and run"):
        check_inputs(OUTPUTS, layout=layout)


def test_outputs_that_are_made_again_are_recorded_again(layout, tmp_path):
    (tmp_path / "results/scores.json").write_text('{"bleu": 1.6}')
    record_outputs(OUTPUTS, layout=layout)
    check_inputs(OUTPUTS, layout=layout)


@pytest.mark.parametrize("content", ["", "[]", '{"sha256": 3}', '{"sha256": {"": 1}', "\udcff"])
def test_a_damaged_record_is_to_be_deleted(layout, tmp_path, content):
    for record in (tmp_path / layout.path("written")).iterdir():
        record.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError, match=r"logs/written/\w+\.json.*: delete it"):
        check_inputs(OUTPUTS, layout=layout)
