"""Parsing of text and treebanks to CoNLL-U, by functions and from the command line."""

import numpy as np
import pytest
from called import call_nmtcore
from factories import run_settings
from inference.tiny import write_bundle

from nmtcore.config.components.settings import DepParseSettings, DiagonalParseSettings, SisaSettings
from nmtcore.config.datasets import EvaluationSettings
from nmtcore.errors import LineError, UserError
from nmtcore.evaluation.attachment import attachment
from nmtcore.inference import raw
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.parse import parse_examples
from nmtcore.inference.parse_to_conllu import parse_text, parse_treebank
from nmtcore.syntax.annotation import tree_fault

LINES = ["the cat dog the cab.", "", " \t ", "dog\u2028dog", "漢字 \u0085 x", "the"]
GOLD = """\
# text = the catdog
1\tthe\tthe\tDET\t_\t_\t3\tdet\t_\t_
2-3\tcatdog\t_\t_\t_\t_\t_\t_\t_\t_
2\tcat\t_\tNOUN\t_\t_\t3\tnmod\t3:nmod\t_
3\tdog\t_\tNOUN\t_\t_\t0\troot\t_\t_
3.1\tgone\t_\t_\t_\t_\t_\t_\t_\t_

1\tdog\t_\tNOUN\t_\t_\t0\troot\t_\t_
2\t.\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_bundle(tmp_path_factory.mktemp("parse") / "model", run_settings(DepParseSettings(layer=1)))


@pytest.fixture(scope="module")
def bundle(folder):
    return load_bundle(folder)


def read(block):
    """Return the comments, words and heads of a block."""
    assert block.endswith("\n\n") or not block.split("\n")[-1]
    lines = block.rstrip("\n").split("\n")
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    assert all(len(row) == 10 for row in rows)
    assert [row[0] for row in rows] == [str(k + 1) for k in range(len(rows))]
    return [line for line in lines if line.startswith("#")], [row[1] for row in rows], [int(row[6]) for row in rows]


@pytest.mark.parametrize("method", ["argmax", "one_root", "many_roots"])
def test_every_line_has_a_block(bundle, method):
    blocks = list(parse_text(bundle, LINES, method=method, chunk=4))
    assert len(blocks) == len(LINES)
    with bundle.reader() as reader:
        examples, line_of_example = reader.examples(LINES)
    expected = {
        line: getattr(p, method)
        for line, p in zip(line_of_example, parse_examples(bundle.model, examples), strict=True)
    }
    for number, (line, block) in enumerate(zip(LINES, blocks, strict=True)):
        comments, words, heads = read(block)
        text = " ".join(line.split())
        assert comments == [f"# sent_id = {number + 1}", f"# text = {text}".rstrip()]
        assert words == text.split()
        assert heads == (expected[number].tolist() if number in expected else [])
        if method != "argmax" and words:
            assert tree_fault(heads) is None
        if method == "one_root" and words:
            assert heads.count(0) == 1


def test_a_byte_order_mark_is_ignored(bundle):
    with_mark = list(parse_text(bundle, ["\ufeffthe cat".encode(), b"the dog"], method="one_root"))
    assert with_mark == list(parse_text(bundle, ["the cat", "the dog"], method="one_root"))


def test_trees_can_be_induced_from_any_head(tmp_path):
    folder = write_bundle(tmp_path / "model")
    text = "the cat dog\n\nthe\n"
    called = call_nmtcore("parse", folder, "--attention", "1.0", text=text)
    assert (called.code, called.errors) == (0, "")
    blocks = [read(block + "\n\n") for block in called.output.split("\n\n")[:-1]]
    assert [words for _, words, _ in blocks] == [["the", "cat", "dog"], [], ["the"]]
    assert tree_fault(blocks[0][2]) is None
    for arguments, sentence in [
        ([], "none of its heads was trained to. Use a model of another system, for example depparse_l1, or"),
        (["--attention", "7.0"], "The encoder has no head 7.0: its layers are 0 to 1"),
        (["--attention", "1"], "1 is not of the form LAYER.HEAD"),
        (["--attention", "0.0", "--argmax", "--roots", "one"], "not allowed with argument"),
    ]:
        called = call_nmtcore("parse", folder, *arguments, text=text)
        assert called.code == 2
        assert sentence in called.errors


def test_the_parts_of_a_long_line_form_one_forest(bundle, monkeypatch, capsys):
    monkeypatch.setattr(raw, "MAX_SUBWORDS", 3)
    line = "the cab the cab abcdegh the dog"
    (block,) = parse_text(bundle, [line], method="one_root")
    _, words, heads = read(block)
    assert words == line.split()
    assert tree_fault(heads) is None
    assert "standard input, line 1: very long, parsed in" in capsys.readouterr().err
    with bundle.reader() as reader:
        parts = reader.parts([line.split()])
        parses = parse_examples(bundle.model, reader.examples_of(parts))
    assert sum(part.words == ["abcdegh"] for part in parts) > 1
    expected = {}
    for part, parse in zip(parts, parses, strict=True):
        for word, head in enumerate(parse.one_root.tolist()):
            expected.setdefault(part.first + word, head and head + part.first)
    assert heads == [expected[word] for word in range(len(words))]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_only_the_heads_of_a_treebank_are_replaced(bundle, tmp_path, end):
    path = tmp_path / "gold.conllu"
    path.write_bytes(("\ufeff" + GOLD.replace("\n", end)).encode())
    parses = list(parse_treebank(bundle, path, method="one_root"))
    assert [(list(s.words), list(s.gold)) for s in parses] == [
        (["the", "cat", "dog"], [3, 3, 0]),
        (["dog", "."], [0, 1]),
    ]
    with bundle.reader() as reader:
        expected = parse_examples(bundle.model, reader.examples_of(reader.parts([s.words for s in parses])))
    assert [s.heads for s in parses] == [parse.one_root.tolist() for parse in expected]
    written = "".join(s.block for s in parses)
    assert len(written.split("\n")) == len((GOLD + "\n").split("\n"))
    heads = iter(np.concatenate([parse.one_root for parse in expected]).tolist())
    for line, before in zip(written.split("\n"), (GOLD + "\n").split("\n"), strict=True):
        old, new = before.split("\t"), line.split("\t")
        if old[0].isdecimal():
            old[6] = str(next(heads))
        assert new == old


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n\n1\tb\t_\t_\t_\t_\t0\n", 3, "has 7 columns"),
        ("\n\n# x\n1\ta\t_\t_\t_\t_\t1\t_\t_\t_\n", 3, "its own head"),
        ("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", 1, "the head '_' is not a number"),
    ],
)
def test_invalid_treebanks_are_errors_with_line_numbers(bundle, tmp_path, text, line, words):
    path = tmp_path / "gold.conllu"
    path.write_text(text)
    with pytest.raises(LineError, match=words) as error:
        list(parse_treebank(bundle, path, method="argmax"))
    assert (error.value.path, error.value.line) == (str(path), line)


def test_parsing_with_a_model_without_trees_is_an_error(tmp_path):
    plain = load_bundle(write_bundle(tmp_path / "plain"))
    with pytest.raises(UserError, match="The system tiny does not parse"):
        list(parse_text(plain, ["the"], method="one_root"))
    with pytest.raises(UserError, match="does not parse"):
        list(parse_treebank(plain, tmp_path / "none", method="argmax"))
    chain = load_bundle(write_bundle(tmp_path / "chain", run_settings(DiagonalParseSettings(layer=0))))
    with pytest.raises(UserError, match=r"no artificial root.*--argmax"):
        list(parse_text(chain, ["the"], method="one_root"))
    (block,) = parse_text(chain, ["the cat"], method="argmax")
    assert all(head in (1, 2) for head in read(block)[2])


def test_roots_have_head_0_although_they_point_to_themselves_in_sisa(tmp_path):
    bundle = load_bundle(write_bundle(tmp_path / "sisa", run_settings(SisaSettings())))
    for method in ("one_root", "many_roots"):
        (block,) = parse_text(bundle, ["the cat dog"], method=method)
        assert tree_fault(read(block)[2]) is None


def test_the_command_writes_the_output_of_the_functions(folder, bundle, tmp_path):
    assert bundle.run.evaluation == EvaluationSettings(roots="one")
    text = "".join(f"{line}\n" for line in LINES)
    called = call_nmtcore("parse", folder, text=text)
    assert (called.code, called.errors) == (0, "")
    assert called.output == "".join(parse_text(bundle, LINES, method="one_root"))
    path = tmp_path / "gold.conllu"
    path.write_text(GOLD)
    called = call_nmtcore("parse", folder, "--conllu", path, "--roots", "many")
    parses = list(parse_treebank(bundle, path, method="many_roots"))
    assert called.output == "".join(s.block for s in parses)
    scores = attachment([s.heads for s in parses], [s.gold for s in parses], [[False] * 3, [False, True]])
    assert called.errors == (
        f"{path}: UAS {scores['uas']:.2f} ({scores['uas_without_punctuation']:.2f} without punctuation), "
        "2 sentences, 5 words.\n"
    )


def test_induced_trees_of_a_treebank_are_reported_beside_the_baselines(folder, tmp_path):
    path = tmp_path / "gold.conllu"
    path.write_text(GOLD)
    called = call_nmtcore("parse", folder, "--conllu", path, "--attention", "0.1")
    rows = [line.split("\t") for line in called.output.splitlines()]
    heads = [int(row[6]) for row in rows if row[0].isdecimal()]
    lines = called.errors.splitlines()
    assert lines[0].startswith(f"{path}: UAS ")
    assert [line.removeprefix(f"{path}: ").split(":")[0] for line in lines[1:]] == [
        "induced trees", "left", "right", "random",
    ]  # fmt: skip
    # Both words of the first sentence have the head 3; of the second, one is the root and the other punctuation.
    directed = sum(head == 3 for head in heads[:2]) / 2
    assert f"induced trees: directed {100 * directed:.1f}, " in lines[1]
    assert lines[2].endswith(
        "directed 50.0, undirected over gold edges 50.0, undirected over predicted edges 50.0 (2 words)"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(["--conllu", "absent"], "absent does not exist"), (["--conllu", "empty"], "empty contains no sentences")],
)
def test_errors_are_one_sentence(folder, tmp_path, monkeypatch, arguments, sentence):
    (tmp_path / "empty").write_text("\n\n")
    monkeypatch.chdir(tmp_path)
    called = call_nmtcore("parse", folder, *arguments)
    assert (called.code, called.output) == (2, "")
    assert called.errors == f"nmtcore parse: {sentence}.\n"
