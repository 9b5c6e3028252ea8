"""Reading CoNLL-U: real treebanks against a naive parse of their columns, and malformed files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.corpus.formats.conllu import parse_sentence
from nmtcore.corpus.text_lines import Piece
from nmtcore.errors import LineError, UserError


def words(*lines: str) -> str:
    """Expand lines `id form head deprel` or `id form head deprel misc` to CoNLL-U, with all other columns empty."""
    rows = []
    for line in lines:
        number, form, head, deprel, *misc = line.split(" ", 4) if line else [""] * 4
        rows.append(f"{number}\t{form}\t_\t_\t_\t_\t{head}\t{deprel}\t_\t{misc[0] if misc else '_'}" if line else "")
    return "\n".join(rows) + "\n\n"


SENTENCE = "# sent_id = 1\n# text = Geht's zur  Post?\n" + words(
    "1-2 Geht's _ _", "1 Geht 0 root", "2 's 1 nsubj", "3-4 zur _ _", "3 zu 5 case", "4 der 5 det", "4.1 leer _ _",
    "5 Post 1 obl", "6 ? 1 punct",
)  # fmt: skip


def dataset(bench, source: str, target: str, **values):
    corpus = bench.corpus("conllu", source=bench.file("s.conllu", source), target=bench.file("t.conllu", target))
    return bench.dataset(corpus, words="given", **values)


def test_the_source_has_syntactic_words_and_the_target_surface_tokens(bench):
    (row,), report = bench.read(dataset(bench, SENTENCE, SENTENCE))
    assert row["source"] == row["target"] == "Geht's zur  Post?"
    assert row["source_words"] == ["Geht", "'s", "zu", "der", "Post", "?"]
    assert row["source_annotation"]["head"] == [0, 1, 5, 5, 1, 1]
    assert row["source_annotation"]["lemma"] is None
    assert row["target_words"] == ["Geht's", "zur", "Post", "?"]
    assert row["target_annotation"]["head"] is None
    assert report["null_annotations"] == {"source": {}, "target": {"multiword tokens": 1}}


def test_without_a_text_comment_text_follows_space_after(bench):
    """A space inside a form is a no-break space; further empty lines are ignored."""
    source = "\n\n1\t10 000\t_\tNUM\t_\tA=b\t0\troot\t_\tx|SpaceAfter=No\n2\t.\t_\tX\t_\t_\t1\tpunct\t_\t_\n\n\n"
    (row,), _ = bench.read(dataset(bench, source, SENTENCE))
    assert (row["source"], row["source_words"]) == ("10 000.", ["10\u00a0000", "."])
    assert (row["source_annotation"]["upos"], row["source_annotation"]["feats"]) == (["NUM", "X"], ["A=b", "_"])


BROKEN = [
    ("tree", ["1 a 2 x", "2 b 1 x", "3 c 0 root"], 1, "the heads form a cycle"),
    ("tree", ["1 a 0 root", "2 b 3 x"], 1, "word 2 has head 3, but the sentence has 2 words"),
    ("tree", ["1 a ٠ root"], 1, "a head is not a number"),
    ("columns", ["1 a 0 root", "3 b 1 x"], 2, "the number '3' is out of place"),
    ("columns", ["1-2 ab _ _", "1 a 0 root", "2-3 bc _ _", "2 b 1 x", "3 c 1 x"], 3, "the number '2-3' is out of"),
    ("too long", [f"{k} b {k - 1} x" for k in range(1, 999)], 1, "has more than the 9,000 bytes"),
    ("not utf-8", ["1 a 0 root", "2 \udce4 1 x"], 2, r"is not valid UTF-8 \(byte 3\)"),
    ("columns", ["1-3 ab _ _", "1 a 0 root", "2 b 1 x"], 1, "the sentence ends before its last word"),
    ("tree", ["1 a 0 root CCG=NP", "2 b 1 x x|y=z", "3 c 1 x CCG=N"], 1, "word 2 has no CCG= in MISC, but other words"),
    ("tree", ["1 a 0 root Constituents=(S (X a))", "2 b 1 x"], 1, "the constituency tree has 1 words for 2 words"),
]


@pytest.mark.parametrize(("reason", "lines", "line", "sentence"), BROKEN)
def test_a_malformed_sentence_raises_or_is_dropped(reason, lines, line, sentence, bench):
    source = (words("1 a 0 root") + words(*lines) + words("1 c 0 root")).encode(errors="surrogateescape")
    target, values = words("1 x 0 root") * 3, {"max_line_bytes": 9000}
    with pytest.raises(LineError, match=f"s\\.conllu, line {line + 2}: {sentence}"):
        bench.read(dataset(bench, source, target, **values))
    rows, report = bench.read(dataset(bench, source, target, max_bad_lines=1, **values))
    assert [(row["id"], row["source"]) for row in rows] == [(0, "a"), (2, "c")]
    assert report["dropped"] == {reason: 1}


@pytest.mark.parametrize(
    ("line", "count"), [("1\ta\t_\t_\t_\t_\t0\troot\t_", 9), ("1\t\t_\t_\t_\t_\t0\troot\t_\t_", 10), ("1 a", 1)]
)
def test_a_missing_column_raises(line, count, bench):
    with pytest.raises(LineError, match=rf"s\.conllu, line 4: has {count} columns; CoNLL-U has 10"):
        bench.read(dataset(bench, words("1 a 0 root") + "# text = a\n" + line + "\n\n", words("1 a 0 root") * 2))


CATEGORIES = st.recursive(
    st.sampled_from(["NP", "S[dcl]", "S[a|p]", "N:thr", "p", ","]),
    lambda inner: st.tuples(inner, st.sampled_from("/\\"), inner).map("({0[0]}{0[1]}{0[2]})".format),
)
LEAVES = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"), exclude_characters=" ()"), min_size=1)


@given(st.lists(st.tuples(CATEGORIES, LEAVES), min_size=1, max_size=5))
def test_supertags_and_constituents_in_misc_are_read_as_they_were_written(written):
    categories, leaves = zip(*written, strict=True)
    tree = f"(S {' '.join(f'(X {leaf})' for leaf in leaves)})"
    first, *others = (f"CCG={escaped(category)}" for category in categories)
    cells = [f"a=b|Constituents={escaped(tree)}|{first}|SpaceAfter=No", *others]
    lines = [f"{number} w {number - 1} x {cell}" for number, cell in enumerate(cells, start=1)]
    side = parse_sentence(Piece("s", 1, words(*lines).strip("\n").encode()), surface=False)
    assert (list(side.annotation.ccg), side.annotation.constituency) == (list(categories), tree)


def escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("|", r"\p")


@pytest.mark.parametrize(("source", "target"), [("cs", "de"), ("en", "tr"), ("ru", "ja")])
def test_real_parallel_treebanks_match_their_columns(source, target, bench, shared):
    files = [(shared / "data" / "ud" / f"{language}_pud.conllu").read_text("utf-8") for language in (source, target)]
    rows, _ = bench.read(dataset(bench, *files))
    blocks = [[[line.split("\t") for line in block.split("\n") if line[0] != "#"]
               for block in file.strip("\n").split("\n\n")] for file in files]  # fmt: skip
    assert len(rows) == len(blocks[0]) == 1000
    for row, left, right in zip(rows, *blocks, strict=True):
        syntactic = [columns for columns in left if columns[0].isdigit()]
        assert row["source_words"] == [columns[1].replace(" ", "\u00a0") for columns in syntactic]
        assert row["source_annotation"]["head"] == [int(columns[6]) for columns in syntactic]
        assert row["source_annotation"]["upos"] == [columns[3] for columns in syntactic]
        assert "".join(row["target_words"]).replace("\u00a0", "") == "".join(row["target"].split())
        assert (row["target_annotation"]["head"] is None) == any("-" in columns[0] for columns in right)


def test_ids_of_sentences_are_compared_without_zones(bench):
    source = "".join(f"# sent_id = s{i}/cs\n" + words("1 a 0 root") for i in range(3))
    target = "".join(f"# sent_id = s{i}/en\n" + words("1 x 0 root") for i in (0, 7, 2))
    with pytest.raises(LineError, match=r"s\.conllu, line 4: has the id 's1', but the other side .*line 4\) has 's7'"):
        bench.read(dataset(bench, source, target))
    rows, report = bench.read(dataset(bench, source, target, max_bad_lines=1))
    assert [row["id"] for row in rows] == [0, 2]
    assert report["dropped"] == {"ids differ": 1}
    damaged = target.replace("# sent_id = s7/en", "# sent_id s1/en")
    with pytest.raises(LineError, match=r"s\.conllu, line 4: has the id 's1', but the other side .* has '\(no id\)'"):
        bench.read(dataset(bench, source, damaged))
    without = "".join("# sent_id =\n" + words("1 x 0 root") for _ in range(3))
    assert len(bench.read(dataset(bench, source, without))[0]) == 3


@pytest.mark.parametrize(
    "text", ["# text =", "#text=y", "#\ttext\t= y", "# text = y\n# text = x", "# text = x\n# text=y"]
)
def test_every_text_is_compared_with_the_words(text, bench):
    with pytest.raises(LineError, match=r"s\.conllu, line 1: `# text` is 'y?', but the words are 'x'"):
        bench.read(dataset(bench, f"{text}\n" + words("1 x 0 root"), words("1 x 0 root")))
    other = "# text_en = y\n# newtext = y\n# text = x\n"
    assert bench.read(dataset(bench, other + words("1 x 0 root"), words("1 x 0 root")))[0][0]["source"] == "x"


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("n1/cs n2/cs", "n1/en n2/en"),
        ("n1/cs_src n2/cs_src", "n1 n2"),
        ("a/1/CS", "a/1/en-US"),
        ("cs_lines-1", "en_lines-1"),
        ("lines-1.cs lines-2.cs", "lines-1.en lines-2.en"),
    ],
)
def test_languages_at_the_end_and_names_of_treebanks_may_differ(source, target, bench):
    texts = ["".join(f"# sent_id = {i}\n" + words("1 a 0 root") for i in ids.split()) for ids in (source, target)]
    assert len(bench.read(dataset(bench, *texts))[0]) == len(source.split())
    with pytest.raises(UserError, match=r"s\.conllu has \d sentences, but .*t\.conllu has \d: the files are not"):
        bench.read(dataset(bench, texts[0], texts[1] + words("1 b 0 root")))


@pytest.mark.parametrize(
    ("source", "target"),
    [("wsj/1 wsj/2", "wsj/2 wsj/1"), ("x/1/cs x/2/cs", "x/2/en x/1/en"), ("1 2 3", "1 2 4"), ("a b c", "b c d")],
)
def test_ids_are_compared_if_most_of_them_are_equal(source, target, bench):
    texts = ["".join(f"# sent_id = {i}\n" + words("1 a 0 root") for i in ids.split()) for ids in (source, target)]
    with pytest.raises(LineError, match=r"s\.conllu, line \d: has the id"):
        bench.read(dataset(bench, *texts))
