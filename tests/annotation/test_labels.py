import pytest

from nmtcore.annotation.labels import label_vocabularies, read_labels
from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row
from nmtcore.errors import UserError
from nmtcore.files import write_json
from nmtcore.parquet import write_rows
from nmtcore.syntax.annotation import Annotation, failed


def test_labels_by_frequency_then_name(tmp_path):
    annotations = [
        Annotation(head=[0, 1], deprel=["root", "obj"], upos=["B", "A"]),
        failed("why"),
        Annotation(head=[0, 1, 1], deprel=["root", "obj", "det"], upos=["A", "C", "B"]),
        Annotation(head=[0], deprel=["<none>"]),
    ]
    rows = [annotation_row(id, annotation) for id, annotation in enumerate(annotations)]
    write_rows(tmp_path / "a", ANNOTATION_SCHEMA, rows)
    label_vocabularies(tmp_path / "a", tmp_path / "labels.json")
    assert read_labels(tmp_path / "labels.json") == {
        "deprel": ["<none>", "<unk>", "obj", "root", "det"],
        "upos": ["<none>", "<unk>", "A", "B", "C"],
        "xpos": ["<none>", "<unk>"],
    }


@pytest.mark.parametrize(
    "content", [[], {"deprel": ["<none>", "<unk>"], "upos": ["<none>", "<unk>"]}, {"deprel": ["root"]}]
)
def test_another_file_is_told_apart(tmp_path, content):
    write_json(tmp_path / "labels.json", content)
    with pytest.raises(UserError, match="no file of label vocabularies"):
        read_labels(tmp_path / "labels.json")
