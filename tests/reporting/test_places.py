from pathlib import Path

import pytest

from nmtcore.errors import UserError
from nmtcore.reporting.places import AnnotationPlace, annotation_place, seconds

HEADER = "s\th:m:s\tmax_rss\n"


def test_places():
    folder = Path("results/cs2en/annotation/spacy_cs")
    assert annotation_place(folder / "train.source.json") == AnnotationPlace("cs2en", "spacy_cs", "train", "source")
    place = AnnotationPlace("cs2en", "spacy_cs", "gold_pdt", "source", "existing")
    assert annotation_place(folder / "gold_pdt.source.against.existing.json") == place


@pytest.mark.parametrize("path", ["train.source.json", "r/cs2en/corpus/raw/train.source.json", "d/annotation/a/x.json"])
def test_files_elsewhere(path):
    with pytest.raises(ValueError, match="no report of an annotation"):
        annotation_place(Path(path))


def test_seconds(tmp_path):
    (tmp_path / "a.tsv").write_text(f"{HEADER}1.5\t0:00:01\t3\n2\t0:00:02\t-\n")
    (tmp_path / "b.tsv").write_text(f"{HEADER}nan\tNA\tNA\n")
    (tmp_path / "c.tsv").write_text(HEADER)
    assert seconds([tmp_path / "a.tsv", tmp_path / "b.tsv", tmp_path / "c.tsv"]) == 3.5
    assert seconds([tmp_path / "c.tsv"]) is None
    assert seconds([]) is None


@pytest.mark.parametrize("text", ["time\n3\n", f"{HEADER}soon\t\t\n", "s\tx\n\t1\n"])
def test_what_is_no_benchmark(tmp_path, text):
    path = tmp_path / "a.tsv"
    path.write_text(text)
    with pytest.raises(UserError, match=r"a\.tsv is no benchmark of Snakemake"):
        seconds([path])
    with pytest.raises(UserError, match="does not exist"):
        seconds([tmp_path / "b.tsv"])
