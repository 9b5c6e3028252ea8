"""Records of outputs that a job was to replace."""

import pytest

from nmtcore.errors import UserError
from nmtcore.layout import Layout
from nmtcore.unfinished import delete_plan_record, outputs_recorded, record_plan, unfinished


@pytest.fixture
def layout(tmp_path):
    return Layout(results=tmp_path)


def test_outputs_are_recorded_until_they_exist(tmp_path, layout):
    outputs = [str(tmp_path / name) for name in ("one", "two")]
    with pytest.raises(KeyboardInterrupt), outputs_recorded(outputs, layout=layout):
        raise KeyboardInterrupt
    assert unfinished(layout) == outputs
    (tmp_path / "one").touch()
    assert unfinished(layout) == outputs[1:]
    with outputs_recorded(outputs, layout=layout):
        assert unfinished(layout) == outputs[1:]
    assert unfinished(layout) == []


def test_a_plan_keeps_the_missing_outputs_of_an_earlier_one(tmp_path, layout):
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    record_plan([first], layout=layout)
    record_plan([second], layout=layout)
    assert unfinished(layout) == [first, second]
    delete_plan_record(layout)
    assert unfinished(layout) == []


@pytest.mark.parametrize("content", ["", "[", "{}", "[3]", '["a\\u0000b"]'])
def test_a_damaged_record_is_named(tmp_path, content):
    layout = Layout(results=str(tmp_path))
    record_plan(["x"], layout=layout)
    (record,) = (tmp_path / "logs/unfinished").iterdir()
    record.write_text(content)
    with pytest.raises(UserError, match=str(record)):
        unfinished(layout)
