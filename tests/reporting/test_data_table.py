"""Tables of data: sizes after each stage, annotations and their labels, and scores of parsers."""

import pytest
from pair_files import write_corpus

from nmtcore.annotation.labels import label_vocabularies
from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row, gather_shards
from nmtcore.evaluation.attachment import compare_annotations
from nmtcore.files import write_json
from nmtcore.parquet import write_rows
from nmtcore.reporting.data_table import annotation_page, data_page, parser_page
from nmtcore.syntax.annotation import Annotation, failed
from nmtcore.tables.render import page_markdown

RAW = {"pairs": 1100, "kept": 1099, "dropped": {"not UTF-8": 1}}
CORPORA = {
    "europarl": {"pairs": 1000, "kept": 905, "dropped": {"empty": 0, "length": 90, "duplicates": 5}},
    "news": {"pairs": 99, "kept": 95, "dropped": {"empty": 0, "length": 0, "duplicates": 4}},
}
FILTERED = {"pairs": 1099, "kept": 1000, "dropped": {"empty": 0, "length": 90, "duplicates": 9}, "corpora": CORPORA}
DEV = {"pairs": 7, "kept": 7, "dropped": {}}
REPORTS = {
    "corpus/raw/train.json": RAW,
    "corpus/raw/dev.json": DEV,
    "corpus/train.json": FILTERED,
    "corpus/dev.json": DEV,
    "annotation/parser/train.target.json": {"sentences": 1000},
    "annotation/selection/train.json": {"pairs": 1000, "kept": 3, "dropped": {"no ccg on the target side": 997}},
}


@pytest.fixture
def lines(tmp_path, layout):
    """A function that makes the lines of the table of sizes."""
    folder = tmp_path / "results/tr2en"
    for name, report in REPORTS.items():
        write_json(folder / name, report)
    features = [folder / f"features/bpe_9/train.{side}.parquet" for side in ("source", "target")]
    for path in features:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_corpus(path, [["a"]] * 3)
    options = {"features": features, "published": {"tr2en": {"train": 206625}}, "layout": layout}
    return lambda: page_markdown(data_page([folder / name for name in REPORTS], **options)).splitlines()


def test_the_table_has_the_pairs_after_each_stage_and_filter(lines):
    shown = lines()
    dropped = "not UTF-8 (1); length (90), duplicates (9); no ccg on the target side (997)"
    for row in (
        f"train | {dropped} | 1,100 | 1,099 | 1,000 | 3 | 3 | 206,625",
        "dev |  | 7 | 7 | 7 |  |  | ",
        "train | europarl | length (90), duplicates (5) | 1,000 | 905",
        "train | news | duplicates (4) | 99 | 95",
        "train | all | length (90), duplicates (9) | 1,099 | 1,000",
    ):
        assert f"| tr2en | {row} |" in shown


SENTENCES = [
    Annotation(head=[0, 1], deprel=["root", "obj"], upos=["VERB", "NOUN"], ccg=["S[b]/NP", "NP"]),
    Annotation(head=[0, 0], deprel=["root", "root"], upos=["VERB", "VERB"], ccg=["NP", "NP"]),
    failed("more than 1 words"),
    failed("invalid analysis: no root"),
]


def write_annotation(path, annotations):
    write_rows(path, ANNOTATION_SCHEMA, map(annotation_row, range(len(annotations)), annotations))
    return path


def test_reports_on_annotations_and_vocabularies_become_a_table(tmp_path, layout):
    folder, reports = tmp_path / "results/tr2en/annotation/parser", []
    for split, sentences in {"dev": [], "train": SENTENCES}.items():
        corpus = write_corpus(tmp_path / "corpus.parquet", [["a", "b"]] * len(sentences))
        shard, reports = write_annotation(tmp_path / "shard", sentences), [*reports, folder / f"{split}.target.json"]
        gather_shards([shard], corpus=corpus, output=folder / f"{split}.target.parquet", report=reports[-1])
    labels = folder / "target.labels.json"
    label_vocabularies(folder / "train.target.parquet", labels)
    published = {"tr2en": {"target.ccg": 507, "source.ccg": 1}}
    lines = page_markdown(annotation_page(reports, labels=[labels], published=published, layout=layout)).splitlines()
    reasons = "more than 1 words (1), invalid analysis (1)"
    row = f"| tr2en | train | target | parser | 4 | 50.00 | {reasons} | 2 | 50.00 | 0.00 | 1.5 | 2 | 2 | 2 | 2 |"
    assert row in lines
    assert [line for line in lines if line.startswith("| tr2en | dev | target | parser | 0 |  |")]
    for row in ("deprel | 2 | ", "upos | 2 | ", "dg_a | 2 | ", "dg_b | 3 | ", "ccg | 2 | 507"):
        assert f"| tr2en | target | parser | {row} |" in lines


def test_a_row_has_the_scores_of_a_parser(tmp_path, layout):
    folder = tmp_path / "results/cs2en/annotation"
    corpus = write_corpus(tmp_path / "corpus.parquet", [["a", "b", "c"], ["."]])
    gold = [Annotation(head=[0, 1, 1], deprel=["root", "obj", "obl:x"]), Annotation(head=[0], deprel=["root"])]
    parsed = [Annotation(head=[0, 1, 2], deprel=["root", "obj", "obl"]), failed("too hard: really")]
    annotations = {"spacy": parsed, "existing": gold}
    paths = [write_annotation(folder / name / "gold_pdt.source.parquet", own) for name, own in annotations.items()]
    output = folder / "spacy/gold_pdt.source.against.existing.json"
    compare_annotations(*paths, annotators=tuple(annotations), corpus=corpus, side="source", output=output)
    row = "| cs2en | gold_pdt | source | spacy | existing | 2 | 1 | 66.7 | 66.7 | 66.7 | 66.7 | "
    assert f"{row}spacy: too hard (1) |" in page_markdown(parser_page([output], layout=layout)).splitlines()
