"""`nmtcore prompts`: a test as prompts, and answers as the translations of an external system."""

import json
import random

import pytest
from called import call_nmtcore
from pair_files import write_corpus

from nmtcore.annotation.shards import ANNOTATION_SCHEMA
from nmtcore.files import write_json
from nmtcore.parquet import write_rows
from nmtcore.syntax.annotation import COLUMNS, Annotation

SENTENCES = [["Dogs", "bark"], ["A", 'tab\tand "marks"'], ["Cats"]]
IDS = [0, 2, 3]
"""Reading dropped the second pair and the last one of five."""
TREES = [Annotation(head=[2, 0], deprel=["nsubj", "root"], constituency="(S (NP Dogs) (VP bark))"), Annotation()]


@pytest.fixture
def folder(tmp_path):
    results = tmp_path / "results/demo_en2de"
    write_corpus(results / "corpus/test.parquet", SENTENCES, ids=IDS)
    write_json(results / "corpus/raw/test.json", {"pairs": 5})
    rows = [dict.fromkeys(COLUMNS) | {"id": id} for id in IDS]
    for row, annotation in zip(rows, TREES, strict=False):
        row |= {column: getattr(annotation, column) for column in COLUMNS}
    write_rows(results / "annotation/existing/test.source.parquet", ANNOTATION_SCHEMA, rows)
    return tmp_path


def call(folder, *options, test="demo_en2de/test"):
    code, output, errors = call_nmtcore("prompts", test, "--folder", str(folder), *options)
    assert (code == 2) == errors.startswith("nmtcore prompts: ")
    return output, errors


def answered(folder, *rows, **options):
    path = folder / "answers.jsonl"
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return call(folder, "--answers", str(path), **options)


def test_prompts_have_the_sources_and_the_trees(folder):
    rows = [json.loads(line) for line in call(folder)[0].splitlines()]
    assert [(row["id"], row["source"]) for row in rows] == [
        (id, " ".join(words)) for id, words in zip(IDS, SENTENCES, strict=True)
    ]
    assert all(row["prompt"].endswith(f"alone.\n\n{row['source']}") and "tree" not in row for row in rows)
    output, _ = call(folder, "--trees", "brackets", "--prompt", "{tree} of {source}")
    first, second, _ = map(json.loads, output.splitlines())
    assert (first["tree"], first["prompt"]) == (TREES[0].constituency, f"{TREES[0].constituency} of Dogs bark")
    assert (second["tree"], second["prompt"]) == (None, f"(none) of {second['source']}")
    output, _ = call(folder, "--trees", "conllu")
    first, second, _ = map(json.loads, output.splitlines())
    heads = [line.split("\t")[6] for line in first["tree"].splitlines()]
    assert (heads, second["tree"], first["prompt"][-10:]) == (["2", "0"], None, first["tree"][-10:])


def test_answers_come_back_to_the_lines_of_their_ids(folder):
    rows = [{**json.loads(line), "translation": f"t {i}"} for i, line in enumerate(call(folder)[0].splitlines())]
    assert answered(folder, *rows) == ("t 0\n\nt 1\nt 2\n\n", "")
    rows[1]["translation"] = "one\r\ntwo\u2028 three\n"
    random.Random(1).shuffle(rows)
    output, notes = answered(folder, *rows)
    assert output == "t 0\n\none two three\nt 2\n\n"
    assert "the answers are in another order than the sentences; each is at the line of its id." in notes
    assert "line breaks in 1 of 3 answers became spaces." in notes


def test_answers_become_tokens_where_tokens_are_scored(folder):
    (folder / "config/datasets").mkdir(parents=True)
    (folder / "config/datasets/tokens.yaml").write_text(
        "{extends: demo_en2de, words: moses, evaluation: {text: tokens}}"
    )
    (folder / "results/demo_en2de").rename(folder / "results/tokens")
    output, _ = answered(folder, *({"id": id, "translation": "Ja, gut."} for id in IDS), test="tokens")
    assert output.splitlines()[0] == "Ja , gut ."


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([{"id": 0, "translation": "a"}], "has no answer for 2 of 3 sentences (the first has id 2): ask again, or let"),
        ([{"id": 0, "translation": "a"}] * 2, "line 2: line 1 has an answer for id 0, too: delete one of them."),
        ([{"id": 1, "translation": "a"}], "line 1: no sentence has the id 1 in demo_en2de/test: are these answers for"),
        ([{"id": 0, "translation": "a", "source": "x"}], "line 1: the source of id 0 is another one in demo_en2de"),
        ([{"id": "0", "translation": "a"}], 'line 1: expected {"id": NUMBER, "translation": "TEXT"}, found {"id": "0"'),
        (["Hunde bellen"], "line 1: expected {"),
    ],
)
def test_answers_that_are_not_those_of_the_test_are_refused(folder, rows, sentence):
    output, errors = answered(folder, *rows)
    assert (output, sentence in errors) == ("", True), errors


def test_what_is_missing_is_said(folder):
    assert "the prompt lacks {source}: write it where" in call(folder, "--prompt", "Translate!")[1]
    (folder / "results/demo_en2de/annotation/existing/test.source.parquet").unlink()
    said = "annotation/existing/test.source.parquet is not there yet: make it by `snakemake --cores 2 results/"
    assert said in call(folder, "--trees", "conllu")[1]
