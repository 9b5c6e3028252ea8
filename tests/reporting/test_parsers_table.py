"""The table of parsers' scores and speeds."""

from pair_files import write_corpus

from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row
from nmtcore.evaluation.attachment import compare_annotations
from nmtcore.layout import Layout
from nmtcore.parquet import write_rows
from nmtcore.reporting.data_table import parser_page
from nmtcore.reporting.markdown import page_markdown
from nmtcore.syntax.annotation import Annotation, failed


def write_annotation(path, annotations):
    write_rows(path, ANNOTATION_SCHEMA, map(annotation_row, range(len(annotations)), annotations))
    return path


def write_comparison(tmp_path):
    folder = tmp_path / "results/cs2en/annotation"
    corpus = write_corpus(tmp_path / "corpus.parquet", [["a", "b", "c"], ["."]])
    gold = [Annotation(head=[0, 1, 1], deprel=["root", "obj", "obl:x"]), Annotation(head=[0], deprel=["root"])]
    parsed = [Annotation(head=[0, 1, 2], deprel=["root", "obj", "obl"]), failed("too hard: really")]
    first = write_annotation(folder / "spacy/gold_pdt.source.parquet", parsed)
    second = write_annotation(folder / "existing/gold_pdt.source.parquet", gold)
    output = folder / "spacy/gold_pdt.source.against.existing.json"
    names = ("spacy", "existing")
    compare_annotations(first, second, annotators=names, corpus=corpus, side="source", output=output)
    return output


def test_a_row_has_the_scores_and_the_speed_of_a_parser(tmp_path):
    path = write_comparison(tmp_path)
    benchmarks = tmp_path / "results/benchmarks"
    for name in ("gold_pdt.source.0-of-2", "gold_pdt.source.1-of-2", "gold_pdt.source", "train.source.0-of-1"):
        file = benchmarks / f"cs2en/annotation/spacy/{name}.tsv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("s\th:m:s\n0.25\t0:00:00\n")
    text = page_markdown(parser_page([path], layout=Layout(results=tmp_path / "results")))
    row = "| cs2en | gold_pdt | source | spacy | existing | 2 | 1 | 66.7 | 66.7 | 66.7 | 66.7 | 4.0 | "
    assert row + "spacy: too hard (1) |" in text.splitlines()


def test_without_benchmarks_there_is_no_speed(tmp_path):
    path = write_comparison(tmp_path)
    text = page_markdown(parser_page([path], layout=Layout(results=tmp_path / "results")))
    assert "66.7 | spacy: too hard (1) |" in text
    assert "sentences/s |" not in text
