"""The table of annotations and label vocabularies."""

from pair_files import write_corpus

from nmtcore.annotation.labels import label_vocabularies
from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row, gather_shards
from nmtcore.layout import Layout
from nmtcore.parquet import write_rows
from nmtcore.reporting.data_table import annotation_page
from nmtcore.reporting.markdown import page_markdown
from nmtcore.syntax.annotation import Annotation, failed

SENTENCES = [
    Annotation(head=[0, 1], deprel=["root", "obj"], upos=["VERB", "NOUN"], ccg=["S[b]/NP", "NP"]),
    Annotation(head=[0, 0], deprel=["root", "root"], upos=["VERB", "VERB"], ccg=["NP", "NP"]),
    failed("more than 1 words"),
    failed("invalid analysis: no root"),
]


def test_reports_and_vocabularies_become_a_table(tmp_path):
    folder = tmp_path / "results/tr2en/annotation/parser"
    corpus = write_corpus(tmp_path / "corpus.parquet", [["a", "b"]] * 4)
    shard = tmp_path / "shard"
    write_rows(shard, ANNOTATION_SCHEMA, map(annotation_row, range(4), SENTENCES))
    annotation, report = folder / "train.target.parquet", folder / "train.target.json"
    gather_shards([shard], corpus=corpus, output=annotation, report=report)
    labels = folder / "target.labels.json"
    label_vocabularies(annotation, labels)
    page = annotation_page(
        [report],
        labels=[labels],
        published={"tr2en": {"target.ccg": 507, "source.ccg": 1}},
        layout=Layout(results=tmp_path / "results"),
    )
    text = page_markdown(page)
    lines = text.splitlines()
    reasons = "more than 1 words (1), invalid analysis (1)"
    row = f"| tr2en | train | target | parser | 4 | 50.00 | {reasons} | 2 | 50.00 | 0.00 | 1.5 | 2 | 2 | 2 | 2 |"
    assert row in lines
    for row in ("deprel | 2 | ", "upos | 2 | ", "dg_a | 2 | ", "dg_b | 3 | ", "ccg | 2 | 507"):
        assert f"| tr2en | target | parser | {row} |" in lines
    assert "random" not in text


def test_a_split_without_sentences_has_empty_cells(tmp_path):
    corpus = write_corpus(tmp_path / "corpus.parquet", [])
    folder = tmp_path / "d/annotation/p"
    write_rows(tmp_path / "shard", ANNOTATION_SCHEMA, [])
    gather_shards(
        [tmp_path / "shard"], corpus=corpus, output=folder / "dev.source.parquet", report=folder / "dev.source.json"
    )
    report = [folder / "dev.source.json"]
    text = page_markdown(annotation_page(report, labels=[], published={}, layout=Layout(results=tmp_path)))
    assert "| d | dev | source | p | 0 |  |" in text.splitlines()
