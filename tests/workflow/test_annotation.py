"""Annotation, features and tables, from the configuration to Parquet files, on the demo corpus and small files."""

import pytest
from demo_parts import part_of_demo
from workflow.calling import little

from nmtcore.files import read_json
from nmtcore.parquet import read_rows

pytestmark = pytest.mark.needs("Snakemake")

CONLLU = """1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tdog\tdog\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\tsleeps\tsleep\tVERB\tVBZ\t_\t0\troot\t_\t_

1\tdon't\tdo\tVERB\tVB\t_\t0\troot\t_\t_

"""


def rows(path):
    return list(read_rows(path))


@pytest.fixture(scope="module")
def tagged(workplace):
    """Demo pairs from German to English with English CCG supertags, but no parse of more than twelve words."""
    workplace.write(
        "datasets/tagged",
        {
            "extends": "demo_de2en",
            "corpora": part_of_demo(workplace.folder / "demo", train=300, dev=20, test=20),
            "filters": ["empty"],
            "annotators": {"short": {"tool": "existing", "max_words": 12, "shards": 3}},
            "syntax": {"target": {"ccg": "short"}},
            "selection": {"parsed": {"target": ["ccg"]}},
            "published": {"pairs": {"train": 1234}, "tags": {"target.ccg": 507}, "place": "Table 0"},
        },
    )
    workplace.run(
        "annotate", "results/tables/data.md", "results/tables/annotation.md", settings=['datasets=["tagged"]']
    )
    return workplace.folder / "results"


def features(tagged, name):
    (path,) = (tagged / "tagged" / "features").glob(f"*/{name}.parquet")
    return rows(path)


def test_pairs_without_a_parse_are_only_removed_from_features(tagged):
    corpus = rows(tagged / "tagged/corpus/train.parquet")
    short = [row["id"] for row in corpus if len(row["target_words"]) <= 12]
    assert 0 < len(short) < len(corpus) == 300
    assert read_json(tagged / "tagged/annotation/selection/train.json") == {
        "pairs": 300,
        "dropped": {"no ccg on the target side": 300 - len(short)},
        "kept": len(short),
    }
    for name in ("source", "target", "source.existing", "target.existing", "target.short"):
        assert [row["id"] for row in features(tagged, f"train.{name}")] == short
    assert len(features(tagged, "test.target.short")) == 20
    words = {word for row in corpus if row["id"] in set(short) for word in row["target_words"]}
    report = read_json(next((tagged / "tagged/segmentation").glob("*/report.json")))
    assert report["source"]["different"] >= len(words)


def test_features_and_tables_are_those_of_the_data_sets_annotations(tagged):
    trees = {"id", "governor", "deprel", "parent_position", "upos", "xpos", "dg_a", "dg_b"}
    for name in ("train.source.existing", "train.target.existing"):
        assert features(tagged, name)[0].keys() == trees
    labels = read_json(tagged / "tagged/annotation/short/target.labels.json")
    corpus = {row["id"]: row for row in rows(tagged / "tagged/annotation/short/train.target.parquet")}
    for row in features(tagged, "train.target.short"):
        assert row.keys() == {"id", "ccg", "random"}
        assert [labels["ccg"][k] for k in row["ccg"]] == corpus[row["id"]]["ccg"]
    data, annotation = ((tagged / f"tables/{name}.md").read_text(encoding="utf-8") for name in ("data", "annotation"))
    assert "1,234" in data, "as published"
    assert str(read_json(tagged / "tagged/annotation/selection/train.json")["kept"]) in data
    assert "507" in annotation, "as published"
    assert "more than 12 words" in annotation


def test_a_treebank_keeps_its_words_and_is_compared_with_a_parser(workplace):
    (workplace.mirror / "bank.conllu").write_text(CONLLU, encoding="utf-8")
    corpora = little()["corpora"]
    corpora["bank"] = {
        "format": "conllu",
        "files": {"source": {"name": "bank/bank.conllu", "mirrors": [{"path": "bank.conllu"}]}},
    }
    workplace.write(
        "datasets/banked",
        little(
            corpora=corpora,
            splits={
                **{name: name for name in ("train", "dev", "test")},
                "gold_bank": "bank",
            },
            words="moses",
            annotators={"gold": {"tool": "existing"}, "short": {"tool": "existing", "max_words": 2}},
            syntax={"source": {"dependencies": "short"}},
        ),
    )
    target = "results/banked/annotation/short/gold_bank.source.against.gold.json"
    workplace.run(target, "results/tables/parsers.md", settings=['datasets=["banked"]'])
    comparison = read_json(workplace.folder / target)
    assert (comparison["sentences"], comparison["compared"], comparison["uas"]) == (2, 1, 100)
    corpus = rows(workplace.folder / "results/banked/corpus/gold_bank.parquet")
    assert [row["source_words"] for row in corpus] == [["The", "dog", "sleeps"], ["don't"]]
    assert [row["target_words"] for row in corpus] == [[], []]
    assert "gold_bank" in (workplace.folder / "results/tables/parsers.md").read_text(encoding="utf-8")
