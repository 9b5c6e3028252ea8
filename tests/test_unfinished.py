"""The record of outputs that a plan was to replace."""

import pytest

from nmtcore.errors import UserError
from nmtcore.layout import Layout
from nmtcore.unfinished import delete_plan_record, record_plan, unfinished


@pytest.fixture
def layout(tmp_path):
    return Layout(results=tmp_path)


def test_outputs_are_recorded_until_they_exist(tmp_path, layout):
    one, two, other = (str(tmp_path / name) for name in ("one", "two", "other"))
    record_plan([one, two], layout=layout)
    assert unfinished(layout) == [one, two]
    (tmp_path / "one").touch()
    record_plan([other], layout=layout)
    assert unfinished(layout) == [other, two], "the missing output of the earlier plan, too"
    (tmp_path / "other").touch()
    delete_plan_record(layout)
    assert unfinished(layout) == [two], "the later plan has succeeded, the earlier one has not"
    (tmp_path / "two").touch()
    delete_plan_record(layout)
    assert not any((tmp_path / "logs/unfinished").iterdir())


@pytest.mark.parametrize("content", ["", "[", "{}", "[3]", '["a\\u0000b"]'])
def test_a_damaged_record_is_named(tmp_path, content):
    layout = Layout(results=str(tmp_path))
    record_plan(["x"], layout=layout)
    (record,) = (tmp_path / "logs/unfinished").iterdir()
    record.write_text(content)
    with pytest.raises(UserError, match=str(record)):
        unfinished(layout)
