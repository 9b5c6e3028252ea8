"""Systems on the demo corpus: scores of induced trees, tables of heads, productions and gates, and attention."""

from collections import Counter

import pytest
from workflow.calling import make_workplace

from nmtcore.evaluation.attachment import is_punctuation
from nmtcore.files import read_json
from nmtcore.parquet import read_rows

pytestmark = pytest.mark.needs("Snakemake")

COUNTS = {"train": 200, "dev": 10, "test": 20, "gold": 30}
SYSTEMS = ["depparse_l1", "sa_nmt_shared"]
SETTINGS = ['datasets=["banked"]', "scale=smoke"]
BOTH = 'systems=["depparse_l1", "sa_nmt_shared"]'
TABLES = ("results/tables/heads.md", "results/tables/productions.md", "results/tables/gates.md")
RUNS = "results/smoke/banked"
ATTENTION = f"{RUNS}/sa_nmt_shared/seed1/attention/test.parquet"


@pytest.fixture(scope="module")
def tabulated(root, tmp_path_factory):
    """A working directory with the tables of two systems."""
    workplace = make_workplace(tmp_path_factory.mktemp("grammars"), root / "Snakefile")
    workplace.train_briefly()
    corpora = {split: {"options": {"count": count}} for split, count in COUNTS.items()}
    workplace.write("datasets/banked", {"extends": "demo_en2de", "corpora": corpora})
    scores = [f"{RUNS}/{system}.gold.uas" for system in SYSTEMS]
    finished = workplace.run(*TABLES, *scores, ATTENTION, settings=[*SETTINGS, BOTH])
    assert {"score_heads", "heads_table", "parse_gold", "paper_table", "measure_gates"} <= finished.rules
    assert "translate_tests" not in finished.rules
    assert workplace.partial_files() == []
    return workplace


def gold_trees(workplace):
    return list(read_rows(workplace.folder / "results/banked/annotation/existing/gold_demo.source.parquet"))


def lines_of(workplace, table):
    return (workplace.folder / table).read_text(encoding="utf-8").splitlines()


def directed(trees, head_of):
    """The percentage of words with the head `head_of(i, n)`, without punctuation and roots, and their number."""
    right = words = 0
    for tree in trees:
        marks = is_punctuation(tree["upos"], tree["upos"])
        for i, (head, mark) in enumerate(zip(tree["head"], marks, strict=True), start=1):
            if head != 0 and not mark:
                words += 1
                right += head == head_of(i, len(tree["head"]))
    return pytest.approx(100 * right / words), words


def test_the_table_of_heads_has_every_head_of_the_transformer(tabulated):
    scores = read_json(tabulated.folder / RUNS / "depparse_l1/seed1/heads/gold_demo.json")
    model = read_json(tabulated.folder / RUNS / "depparse_l1/seed1/model/run.json")["model"]
    assert len(scores["heads"]) == model["encoder_layers"] * model["heads"]
    assert scores["components"] == {f"1.{model['heads'] - 1}": "depparse"}
    trees = gold_trees(tabulated)
    assert len(trees) == COUNTS["gold"]
    baselines = scores["baselines"]
    for name, head_of in (("left", lambda i, n: (i + 1) % (n + 1)), ("right", lambda i, n: i - 1)):
        assert (baselines[name]["directed"], baselines[name]["scored_words"]) == directed(trees, head_of)
    best = sorted((own["directed"] for own in scores["heads"].values()), reverse=True)[:3]
    lines = lines_of(tabulated, TABLES[0])
    shown = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| banked |")]
    assert [row[2] for row in shown] == ["left", "right", "random", *["depparse_l1"] * 3]
    assert [row[7] for row in shown[3:]] == [f"{own:.2f}" for own in best]
    for row in shown[3:]:
        own = scores["heads"][f"{row[5]}.{row[6]}"]
        assert row[3] == scores["components"].get(f"{row[5]}.{row[6]}", "")
        assert (row[7], row[-1]) == (f"{own['directed']:.2f}", str(own["scored_words"]))


def shares(trees):
    """The percentage of each tag among the dependents of each head tag, from (heads, tags)."""
    pairs = Counter(
        (tags[head - 1], tag)
        for heads, tags in trees
        for head, tag in zip(heads, tags, strict=True)
        if head != 0 and tag != "PUNCT"
    )
    totals = Counter()
    for (head, _), count in pairs.items():
        totals[head] += count
    return {
        head: {tag: pytest.approx(100 * n / total) for (other, tag), n in pairs.items() if other == head}
        for head, total in totals.items()
    }


def test_the_table_of_productions_has_gold_trees_chains_and_predicted_trees(tabulated):
    gold = gold_trees(tabulated)
    tags = [tree["upos"] for tree in gold]
    trees = {
        "gold": [tree["head"] for tree in gold],
        "left": [[(i + 1) % (len(row) + 1) for i in range(1, len(row) + 1)] for row in tags],
    }
    for system in SYSTEMS:
        parses = list(read_rows(tabulated.folder / RUNS / system / "seed1/gold/gold_demo.parquet"))
        assert [row["id"] for row in parses] == [tree["id"] for tree in gold]
        trees[system] = [row["one_root"] for row in parses]
    lines = lines_of(tabulated, TABLES[1])
    (header,) = (line for line in lines if line.startswith("| item |"))
    names = [name.strip().rpartition("<br>")[2] for name in header.split("|")[2:-1]]
    assert names == ["gold", "left", *SYSTEMS]
    for item in ("VERB_NOUN", "NOUN_DET"):
        (line,) = (line for line in lines if line.startswith(f"| {item} |"))
        head, dependent = item.split("_")
        for name, cell in zip(names, line.split("|")[2:-1], strict=True):
            counted = shares(zip(trees[name], tags, strict=True))
            if head in counted:
                assert float(cell) == pytest.approx(plain_share(counted[head].get(dependent, 0)), abs=0.051)


def plain_share(share):
    """Return the number in an approximate one."""
    return getattr(share, "expected", share)


def test_trees_of_the_demo_are_scored_against_its_gold_treebank(tabulated):
    run = f"{RUNS}/sa_nmt_shared/seed1"
    gold = read_json(tabulated.folder / run / "gold.json")["gold.uas"]["gold_demo"]
    trees = gold_trees(tabulated)
    assert list(gold) == ["spanning_tree", "untrained", "left", "right", "random"]
    assert gold["left"]["directed"], gold["left"]["scored_words"] == directed(trees, lambda i, n: (i + 1) % (n + 1))
    words = sum(len(tree["head"]) for tree in trees)
    supervised = read_json(tabulated.folder / RUNS / "depparse_l1/seed1/gold.json")["gold.uas"]["gold_demo"]
    assert (supervised["argmax"]["sentences"], supervised["argmax"]["words"]) == (COUNTS["gold"], words)


def test_german_sentences_have_gold_trees_too(tabulated):
    """From German to English, the treebank of the demo is German."""
    corpora = {split: {"options": {"count": count}} for split, count in COUNTS.items()}
    tabulated.write("datasets/banked_german", {"extends": "demo_de2en", "corpora": corpora})
    trees = "results/banked_german/annotation/existing/gold_demo.source.parquet"
    tabulated.run(trees)
    english = read_rows(tabulated.folder / "results/banked/corpus/gold_demo.parquet")
    german = read_rows(tabulated.folder / "results/banked_german/corpus/gold_demo.parquet")
    for row, swapped, tree in zip(english, german, read_rows(tabulated.folder / trees), strict=True):
        assert (row["source_words"], row["target_words"]) == (swapped["target_words"], swapped["source_words"])
        assert len(tree["head"]) == len(tree["upos"]) == len(swapped["source_words"])


def test_the_table_of_gates_has_the_tags_of_the_references(tabulated):
    data = tabulated.folder / "results/banked"
    gates = list(read_rows(tabulated.folder / RUNS / "sa_nmt_shared/seed1/gates/test.parquet"))
    pairs = list(read_rows(data / "corpus/test.parquet"))
    trees = list(read_rows(data / "annotation/existing/test.target.parquet"))
    assert len(gates) == COUNTS["test"]
    for row, pair, tree in zip(gates, pairs, trees, strict=True):
        words = [""] * len(pair["target_words"])
        for piece, word, tag in zip(row["pieces"][:-1], row["words"], row["upos"], strict=False):
            words[word] += piece.removesuffix("@@")
            assert tag == tree["upos"][word]
        references = pair["target_words"]
        known = [reference if "<unk>" in word else word for word, reference in zip(words, references, strict=True)]
        assert (row["id"], known) == (pair["id"], references)
        assert (row["pieces"][-1], row["words"][-1], row["upos"][-1]) == ("</s>", -1, None)
        assert len(row["norms"]) == len(row["pieces"])
        assert min(row["norms"]) > 0
    lines = [line.split("|")[1:-1] for line in lines_of(tabulated, TABLES[2]) if line.startswith("| ")]
    highest = {cells[0].strip(): cells[1].strip() for cells in lines}
    tags = {tag for row in gates for tag in row["upos"] if tag is not None}
    counted = {tag: float(count) for tag, count in highest.items() if tag in tags}
    assert sum(counted.values()) == COUNTS["test"]
    assert counted.keys() == tags
    maps = [(row["id"], row["attention"]) for row in read_rows(tabulated.folder / ATTENTION)]
    assert maps == [(row["id"], name) for row in gates for name in ("cross", "head_selection")]


def test_finished_tables_and_scores_are_not_made_again(tabulated):
    """Not even by another process, which may order sets in another way."""
    again = tabulated.plan(*TABLES, ATTENTION, f"{RUNS}/depparse_l1.gold.uas", settings=[*SETTINGS, BOTH])
    assert "Nothing to be done" in again.output
