"""Parses from scores, of a model's own heads and of any attention head: of examples, of text and of treebanks."""

import itertools

import numpy as np
import pytest
from called import call_nmtcore
from factories import run_settings
from inference.tiny import examples_of_text, heads_of_block, parse_text, random_examples, random_model, write_bundle

from nmtcore.config.components import DepParseSettings, DiagonalParseSettings
from nmtcore.config.features import ParsingTaskSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.attachment import attachment
from nmtcore.inference import attention
from nmtcore.inference.attention import attention_rows, load_observed_bundle
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.parse import (
    conllu_block,
    make_parser,
    parse_examples,
    parse_of,
    parse_sentences,
    parse_with_heads,
)
from nmtcore.inference.schemas import PARSE_METHODS
from nmtcore.inference.text import read_treebank
from nmtcore.model.batch import with_root_scores
from nmtcore.syntax.annotation import tree_fault

LINES = ["the cat dog the cab.", "", " \t ", "dog\u2028dog", "漢字 \u0085 x", "abcdegh the the", "the"]
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


@pytest.fixture
def treebank(tmp_path):
    (tmp_path / "gold.conllu").write_text(GOLD)
    return tmp_path / "gold.conllu"


def best_tree(scores, *, roots=1):
    """Find the best of all trees with at most so many roots; a word's score as a root is on the diagonal."""
    n, best = len(scores), (-np.inf, ())
    for tree in itertools.product(range(n + 1), repeat=n):
        if tree_fault(tree) is None and tree.count(0) <= roots:
            total = sum(scores[word, word if head == 0 else head - 1] for word, head in enumerate(tree))
            best = max(best, (total, tree))
    return best[1]


@pytest.mark.parametrize("n", [0, 1, 2, 4])
def test_the_trees_are_the_best_of_all(n):
    random = np.random.default_rng(n)
    for _ in range(20):
        scores = random.normal(size=(n, n))
        parse = parse_of(with_root_scores(scores), to_root=True)
        assert tuple(parse["one_root"]) == best_tree(scores)
        assert tuple(parse["many_roots"]) == best_tree(scores, roots=n)
        likeliest = [max(range(n), key=row.__getitem__) for row in scores]
        assert parse["argmax"].tolist() == [0 if head == word else head + 1 for word, head in enumerate(likeliest)]
        without = parse_of(scores, to_root=False)
        assert {name: heads.tolist() for name, heads in without.items()} == {"argmax": [head + 1 for head in likeliest]}


@pytest.mark.parametrize("to_root", [True, False])
def test_scores_of_a_model_that_diverged_are_an_error(to_root):
    scores = np.zeros((2, 3) if to_root else (2, 2))
    for value in (np.nan, np.inf):
        scores[1, 0] = value
        with pytest.raises(UserError, match="The model cannot be used, since its scores of heads are not finite"):
            parse_of(scores, to_root=to_root)
    scores[1, 0] = -np.inf
    assert parse_of(scores, to_root=to_root)["argmax"].tolist() == ([0, 1] if to_root else [1, 2])


PARSING = [DepParseSettings(layer=0), DepParseSettings(layer=0, root="itself"), DiagonalParseSettings(layer=1)]


@pytest.mark.parametrize("component", PARSING)
def test_parses_are_in_order_and_independent_of_the_batch_size(component):
    model, examples = random_model(component), random_examples(20)
    together, alone = parse_examples(model, examples), parse_examples(model, examples, batch_sentences=1)
    for row, (parse, parse_alone) in enumerate(zip(together, alone, strict=True)):
        words = set(examples.source.word_of_subword[row].tolist())
        assert parse["argmax"].tolist() == parse_alone["argmax"].tolist()
        assert len(parse["argmax"]) == len(words)
        if isinstance(component, DepParseSettings) and words:
            assert tree_fault(parse["many_roots"].tolist()) is None
            assert tree_fault(parse["one_root"].tolist()) is None
            assert parse["one_root"].tolist().count(0) == 1


@pytest.mark.parametrize("method", PARSE_METHODS)
def test_every_line_has_a_block(bundle, method):
    blocks = parse_text(bundle, ["\ufeff" + LINES[0], *LINES[1:]], method=method, chunk=4)
    expected = iter(parse_examples(bundle.model, examples_of_text(bundle, LINES)))
    for number, (line, block) in enumerate(zip(LINES, blocks, strict=True), start=1):
        words = line.split()
        if not words:  # CoNLL-U has no sentence without words
            assert block == ""
            continue
        rows = [row.split("\t") for row in block.removesuffix("\n\n").split("\n")]
        assert rows[:2] == [[f"# sent_id = {number}"], [" ".join(["# text =", *words])]]
        assert [row[:2] for row in rows[2:]] == [[str(k), word] for k, word in enumerate(words, start=1)]
        assert heads_of_block(block) == next(expected)[method].tolist()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_only_the_heads_of_a_treebank_are_replaced(bundle, treebank, end):
    treebank.write_bytes(("\ufeff" + GOLD.replace("\n", end)).encode())
    parses = list(parse_sentences(bundle, read_treebank(treebank), make_parser(bundle, "one_root")))
    assert [(words, list(own.gold.head)) for own, words, _ in parses] == [
        (["the", "cat", "dog"], [3, 3, 0]), (["dog", "."], [0, 1]),
    ]  # fmt: skip
    expected = parse_examples(bundle.model, examples_of_text(bundle, [" ".join(words) for _, words, _ in parses]))
    assert [heads for *_, heads in parses] == [parse["one_root"].tolist() for parse in expected]
    written = "".join(conllu_block(*parsed) for parsed in parses)
    heads = iter(np.concatenate([parse["one_root"] for parse in expected]).tolist())
    for line, before in zip(written.split("\n"), (GOLD + "\n").split("\n"), strict=True):
        old, new = before.split("\t"), line.split("\t")
        if old[0].isdecimal():
            old[6] = str(next(heads))
        assert new == old


def test_the_command_writes_the_output_of_the_functions(folder, bundle, treebank):
    called = call_nmtcore("parse", folder, text="".join(f"{line}\n" for line in LINES))
    left_out = "left out, since CoNLL-U has no sentence without words.\n"
    assert (called.code, called.errors) == (0, "".join(f"standard input, line {n}: {left_out}" for n in (2, 3)))
    assert called.output == "".join(parse_text(bundle, LINES, method="one_root"))
    treebank.write_text(called.output)
    assert [own.text.split() for own in read_treebank(treebank)] == [line.split() for line in LINES if line.split()]
    treebank.write_text(GOLD)
    called = call_nmtcore("parse", folder, "--conllu", treebank, "--roots", "many")
    parses = list(parse_sentences(bundle, read_treebank(treebank), make_parser(bundle, "many_roots")))
    assert called.output == "".join(conllu_block(*parsed) for parsed in parses)
    gold = [own.gold.head for own, *_ in parses]
    scores = attachment([heads for *_, heads in parses], gold, [[False] * 3, [False, True]])
    assert called.errors == (
        f"{treebank}: UAS {scores['uas']:.2f} ({scores['uas_without_punctuation']:.2f} without punctuation), "
        "2 sentences, 5 words.\n"
    )


@pytest.mark.parametrize("cells", [attention.MAX_CELLS, 1])
@pytest.mark.parametrize(
    ("components", "transforms"),
    [([], {}), ([DepParseSettings(layer=1)], {}), ([], {"parsing_task": ParsingTaskSettings()})],
    ids=["plain", "prefix", "wrapped"],
)
def test_trees_of_heads_match_their_exported_weights(tmp_path, monkeypatch, components, transforms, cells):
    """Weights are summed word by word in loops; tags around the text, `<ROOT>` and `</s>` are ignored."""
    monkeypatch.setattr(attention, "MAX_CELLS", cells)
    bundle = load_observed_bundle(write_bundle(tmp_path / "model", run_settings(*components, transforms=transforms)))
    lines = [line for line in LINES if line.split()]
    examples = examples_of_text(bundle, lines)
    rows = itertools.chain(*itertools.chain(*attention_rows(bundle, examples, [[]] * len(lines))))
    maps = {(row["id"], row["layer"], row["head"]): row for row in rows if row["attention"] == "encoder"}
    trees = parse_with_heads(bundle, examples, method="one_root")
    assert list(trees) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for (layer, head), own in trees.items():
        parser = make_parser(bundle, "argmax", attention=(layer, head))
        blocks = parse_text(bundle, lines, method="argmax", parser=parser)
        for number, tree in enumerate(own):
            if components and (layer, head) == (1, 1):
                continue  # it parses, with other scores
            row = maps[number, layer, head]
            words = len(lines[number].split())
            scores = np.zeros((words, words))
            assert set(row["key_words"]) == {-1, *range(words)}
            for query, a in enumerate(row["key_words"]):
                for key, b in enumerate(row["key_words"]):
                    if a >= 0 and b >= 0:
                        scores[a, b] += row["weights"][query][key]
            assert tuple(tree) == best_tree(scores)
            likeliest = enumerate(scores.argmax(axis=1).tolist())
            assert heads_of_block(blocks[number]) == [0 if b == a else b + 1 for a, b in likeliest]
