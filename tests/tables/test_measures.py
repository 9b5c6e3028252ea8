"""The values of measures: counted in small files by hand."""

import json
from collections import Counter
from dataclasses import asdict
from itertools import groupby, product

import numpy as np
import pyarrow as pa
import pytest
from sacrebleu import corpus_bleu
from tables.runs import write_translations
from tables.treebank_tables import HARD, SHARED, TREES, UNTRAINED, WORDS, TreebankTable, right_words
from tables.treebank_tables import TAGS as TREEBANK_TAGS

from nmtcore.corpus.pairs import ANNOTATION_FIELDS
from nmtcore.errors import UserError
from nmtcore.features.examples import TOKENS_SCHEMA
from nmtcore.files import write_json, write_lines
from nmtcore.inference.schemas import GATES_SCHEMA
from nmtcore.layout import Layout
from nmtcore.parquet import ROWS_PER_GROUP, write_rows
from nmtcore.syntax.annotation import Annotation
from nmtcore.tables import runs, sizes, trees
from nmtcore.tables.measures import MEASURES
from nmtcore.tables.sizes import subword_counts

REFERENCES = ["the red dog sees a cat near the river", "an old tree stands in the town", "she sees it"]
LINES = ["the red dog saw a cat near a river", "an old tree stood in town", "she sees him"]


def counts_source(tmp_path, *seeds, column="bleu"):
    layout, files = Layout(results=str(tmp_path), scales=("quick",)), {}
    for seed, lines in enumerate(seeds, start=1):
        write_translations(layout, "new", seed, lines, REFERENCES)
        files[str(seed)] = layout.path("counts", scale="quick", dataset="d", system="new", seed=seed)
    return {"files": {"counts": files}, "split": "test", "column": column}


def test_scores_are_sacrebleus(tmp_path):
    source = counts_source(tmp_path, LINES, REFERENCES)
    expected = [corpus_bleu(lines, [REFERENCES], tokenize="none").score for lines in (LINES, REFERENCES)]
    assert [own.corpus_score() for own in runs.stored_counts(source)] == pytest.approx(expected, abs=1e-9)
    with pytest.raises(UserError, match=r"test.parquet has no counts of comet: delete it, and run the workflow"):
        runs.stored_counts({**source, "column": "comet"})


def test_seeds_of_other_tests_are_refused(tmp_path):
    source = counts_source(tmp_path, LINES, LINES)
    write_translations(Layout(results=str(tmp_path), scales=("quick",)), "new", 2, LINES, LINES)
    with pytest.raises(UserError, match="are of different sentences, so that they cannot be compared"):
        runs.stored_counts(source)


def test_the_uas_of_trees_is_that_of_the_spanning_trees(tmp_path):
    files = {}
    for seed, uas in (("1", 70.0), ("2", 72.0), ("3", None)):
        files[seed] = str(tmp_path / f"{seed}.json")
        own = {"argmax": {"uas": 60.0}, "spanning_tree": {"uas": uas}, "one_root": {"uas": 1.0}}
        write_json(tmp_path / f"{seed}.json", {"uas": {"test": own}})
    source = {"files": {"scores": files}, "split": "test", "score": "uas"}
    assert MEASURES["tree_uas"].values(source) == [70.0, 72.0], "no word of the third seed was compared"
    with pytest.raises(UserError, match=r"1.json does not hold what it should"):
        MEASURES["tree_uas"].values({**source, "split": "dev"})


def write_tokens(path, sentences):
    write_rows(path, TOKENS_SCHEMA, [{"id": i, "ids": own, "word_of_subword": own} for i, own in enumerate(sentences)])
    return path


@pytest.mark.parametrize("sentences", [0, 1, ROWS_PER_GROUP + 50])
def test_subwords_of_words_are_groups_of_equal_indices(tmp_path, sentences):
    """A word of one sentence does not continue in the next, nor in the next row group."""
    generator = np.random.default_rng(sentences)
    words = [np.sort(generator.integers(0, 4, size=generator.integers(0, 9))).tolist() for _ in range(sentences)]
    expected = Counter(len(list(group)) for sentence in words for _, group in groupby(sentence))
    counts = subword_counts(write_tokens(tmp_path / "t.parquet", words))
    assert {size: number for size, number in enumerate(counts) if number} == expected


def test_shares_of_words_and_numbers_of_reports(tmp_path):
    tokens = str(write_tokens(tmp_path / "t.parquet", [[0], [0, 0], [0, 1, 1, 1]]))
    assert [sizes.share({"files": {"tokens": tokens}, "most": most}) for most in (1, 2, 7)] == [[0.5], [0.75], [1]]
    empty = str(write_tokens(tmp_path / "none.parquet", []))
    assert sizes.share({"files": {"tokens": empty}, "most": 1}) == []
    files = {"report": str(tmp_path / "train.json")}
    write_json(tmp_path / "train.json", {"kept": 7, "dropped": {"langdetect": 12}})
    assert sizes.reported({"files": files, "keys": ["kept"]}) == [7]
    assert sizes.reported({"files": files, "keys": ["dropped", "langdetect"]}) == [12]
    with pytest.raises(UserError, match=r"train.json does not hold what it should \('copies'\): delete it and run"):
        sizes.reported({"files": files, "keys": ["copies", "kept"]})


def write_log(path, seconds, *, loss=None):
    step = {"update": 10, "updates": 10, "seconds": 10 * seconds, "loss": 1.0, "tokens_per_second": 100 / seconds}
    more = {} if loss is None else {"loss/translation": loss}
    write_lines(path, [json.dumps(step | more)])
    return str(path)


def test_times_are_relative_to_the_baselines_mean(tmp_path):
    own = {str(seed): write_log(tmp_path / f"own.{seed}.jsonl", seconds) for seed, seconds in ((1, 4), (2, 6))}
    base = {str(seed): write_log(tmp_path / f"base.{seed}.jsonl", seconds) for seed, seconds in ((1, 1), (2, 3))}
    source = {"files": {"history": own, "baseline": base}}
    assert runs.relative_time(source) == [2, 3]
    assert runs.relative_time({"files": {"history": base, "baseline": base}}) == [0.5, 1.5]
    names = ("seconds_per_update", "updates", "validations", "training_time", "tokens_per_second", "seconds")
    values = [[4, 6], [10, 10], [0, 0], [40, 60], [25, 100 / 6], [40, 60]]
    assert [MEASURES[name].values(source) for name in names] == values


def test_times_of_updates_and_validations_are_medians(tmp_path):
    """A pause of the machine, here 100 seconds in the third line, does not count."""
    lines = [(10, 10, 20), (20, 10, 40), (30, 10, 160), (35, 5, 170), (35, 0, 177), (45, 10, 197), (45, 0, 202)]
    records = [
        {"update": update, "seconds": seconds, **({"updates": updates} if updates else {"validation": {"bleu": 1.0}})}
        for update, updates, seconds in lines
    ]
    write_lines(tmp_path / "training.jsonl", list(map(json.dumps, records)))
    facts = runs.training_facts(str(tmp_path / "training.jsonl"))
    names = ("updates", "seconds_per_update", "validations", "seconds_per_validation", "training_time", "seconds")
    assert [facts[name] for name in names] == [45, 2.0, 2, 6.0, 45 * 2 + 2 * 6, 202]
    assert facts["seconds_per_update_with_validation"] == 102 / 45


def test_the_start_of_training_is_the_first_five_validations(tmp_path):
    """One that was repeated, since training was continued, counts once, and a log with fewer has no such number."""
    scores = [(10, 4.0), (20, 1.0), (20, 6.0), (30, 7.0), (40, 9.0), (50, 9.5), (60, 99.0)]
    lines = [{"update": 5, "updates": 5, "seconds": 1.0}]
    lines += [{"update": update, "seconds": 2.0, "validation": {"bleu": score}} for update, score in scores]
    files = {}
    for name, kept in (
        ("long", lines),
        ("short", lines[:-2]),
        ("without", [*lines[:-2], lines[-1] | {"validation": {}}]),
    ):
        files[name] = str(tmp_path / f"{name}.jsonl")
        write_lines(tmp_path / f"{name}.jsonl", list(map(json.dumps, kept)))
    values = [MEASURES["early_bleu"].values({"files": {"history": {"1": path}}}) for path in files.values()]
    assert values == [[pytest.approx((4 + 6 + 7 + 9 + 9.5) / 5)], [], []]


def test_a_log_without_translation_losses_has_none(tmp_path):
    plain = {"files": {"history": {"1": write_log(tmp_path / "a.jsonl", 1)}}}
    both = {"files": {"history": {"1": write_log(tmp_path / "b.jsonl", 1, loss=2.5)}}}
    assert (runs.facts("first_loss", plain), runs.facts("last_loss", both)) == ([], [2.5])
    write_lines(tmp_path / "c.jsonl", [json.dumps({"seconds": 1.0})])
    with pytest.raises(UserError, match=r"c.jsonl records no update: delete it and train again"):
        runs.facts("updates", {"files": {"history": {"1": str(tmp_path / "c.jsonl")}}})


@pytest.fixture
def treebank(tmp_path):
    made = TreebankTable(tmp_path)
    made.write_run("shared", SHARED, HARD)
    return made


@pytest.mark.parametrize("undirected", [False, True])
def test_induced_trees_have_the_heads_of_gold_trees(treebank, undirected):
    measure = "undirected_gold_edges" if undirected else "directed"
    source = treebank.induction("shared", measure)
    parts = [right_words(own, undirected=undirected) for own in (SHARED, HARD, UNTRAINED)]
    shares = [100 * right / words for right, words in parts]
    assert [own.corpus_score() for own in trees.treebank_counts(source)] == pytest.approx(shares[:2])
    untrained = {**source, "column": f"untrained_{measure}"}
    assert [own.corpus_score() for own in trees.treebank_counts(untrained)] == pytest.approx(shares[2:] * 2)
    left = [None if own is None else [*range(2, len(own) + 1), 0] for own in TREES]
    (own,) = trees.treebank_counts(treebank.induction("left", measure))
    right, words = right_words(left, undirected=undirected)
    assert own.corpus_score() == pytest.approx(100 * right / words)
    (first,) = trees.treebank_counts({**treebank.induction("left", measure), "sentences": 1})
    assert first.counts_BF.tolist() == [[2 if undirected else 1, 2]], "of two dependents of a verb, one precedes it"
    assert trees.without_words(source) == ""


def test_shares_of_gold_trees_chains_and_systems(treebank):
    """Dependents of verbs, gold: PRON, NOUN; NOUN, ADV (home), ADV (fast). Left: PRON; NOUN."""
    # Seed 1: PRON (she); NOUN (dog), ADV (home); seed 2 as gold.
    shares = [trees.tag_shares(treebank.production(name, "VERB", "NOUN")) for name in ("gold", "left", "shared")]
    assert shares == [[40], [50], pytest.approx([100 / 3, 40])]
    assert trees.tag_shares(treebank.production("gold", "VERB", "DET")) == [0]
    missing = treebank.production("gold", "X", "NOUN")
    assert trees.tag_shares(missing) == []
    assert MEASURES["share"].lacks(missing) == "these trees have no dependents of X"


def head_of(trees, tag):
    """Return the percentage of dependents, punctuation and roots left out, whose head has a tag."""
    heads = [
        tags[head - 1]
        for tags, own in zip(TREEBANK_TAGS, trees, strict=True)
        for mark, head in zip(tags or (), own or (), strict=False)
        if head and mark != "PUNCT"
    ]
    return 100 * heads.count(tag) / len(heads)


def test_heads_have_the_tags_of_plain_loops(treebank):
    for name, seeds in (("gold", [TREES]), ("shared", [SHARED, HARD])):
        source = treebank.production(name, "", "NOUN")
        assert MEASURES["head_share"].values(source) == pytest.approx([head_of(trees, "NOUN") for trees in seeds])
    assert MEASURES["gold_distance"].values(treebank.production("shared", "VERB", "NOUN")) == pytest.approx([20 / 3, 0])
    assert MEASURES["gold_distance"].values(treebank.production("left", "VERB", "NOUN")) == [10]
    assert MEASURES["gold_distance"].values(treebank.production("gold", "X", "NOUN")) == []


def same_heads(trees, other):
    """Count the words with the same head in two lists of trees, and all, of those that accuracy is counted over."""
    places = [(i, w) for i, tree in enumerate(TREES) for w, head in enumerate(tree or ()) if head]
    places = [(i, w) for i, w in places if TREEBANK_TAGS[i][w] != "PUNCT"]
    return sum(trees[i][w] == other[i][w] for i, w in places), len(places)


def test_trees_agree_in_equal_heads(treebank):
    treebank.write_run("other", HARD, UNTRAINED)
    source = treebank.agreement("shared", "other")
    counts = [same_heads(*pair) for pair in ((SHARED, HARD), (HARD, UNTRAINED))]
    own = MEASURES["agreement"].counts(source)
    assert [tuple(seed.counts_BF.sum(axis=0)) for seed in own] == counts
    assert [seed.corpus_score() for seed in own] == pytest.approx([100 * same / words for same, words in counts])
    chains = {
        "left": [[*range(2, len(tags) + 1), 0] for tags in WORDS],
        "right": [[*range(len(tags))] for tags in WORDS],
    }
    for name, chain in chains.items():
        branching = MEASURES["agreement"].counts(treebank.agreement("shared", name))
        assert [tuple(seed.counts_BF.sum(axis=0)) for seed in branching] == [
            same_heads(seed, chain) for seed in (SHARED, HARD)
        ]
        assert branching[0].test == own[1].test, "so that they can be compared"


TAGS = ["NOUN", "VERB", "DET"]


def write_gates(path, rows):
    """Write norms, which end in that of `</s>`, of subwords of words with tags."""
    columns = ({"id": i, "pieces": ["x"] * len(row["norms"]), **row} for i, row in enumerate(rows))
    write_rows(path, GATES_SCHEMA, columns)
    return {"files": {"gates": {"1": str(path)}}, "split": "test"}


def gate_row(words, upos, norms):
    """Make a row; `upos` has a tag per word."""
    tags = None if upos is None else [*(upos[word] for word in words), None]
    return {"words": [*words, -1], "upos": tags, "norms": norms}


def drawn_shares(tagged):
    """Yield the shares of tags for each way to draw a subword from each sentence."""
    for drawn in product(*([tag for tag, _ in row] for row in tagged)):
        yield {tag: 100 * drawn.count(tag) / len(tagged) for tag in TAGS}


def test_the_tags_of_gates_and_those_by_chance_equal_all_draws(tmp_path):
    rows = [
        gate_row([0, 0, 1], ["NOUN", "VERB"], [1.0, 2.0, 5.0, 0.5]),
        gate_row([0, 1, 2], ["DET", "NOUN", "VERB"], [1.0, 3.0, 2.0, 0.25]),
        gate_row([0, 1, 1, 1], ["VERB", "DET"], [4.0, 1.0, 1.0, 1.0, 0.25]),
        gate_row([0], None, [9.0, 9.0]),
    ]
    source = write_gates(tmp_path / "gates.parquet", rows)
    tagged = [[(row["upos"][i], row["norms"][i]) for i in range(len(row["words"]) - 1)] for row in rows[:3]]
    draws = list(drawn_shares(tagged))
    chances = {tag: np.mean([draw[tag] for draw in draws]) for tag in TAGS}
    highest = Counter(max(row, key=lambda piece: piece[1])[0] for row in tagged)

    def distance(shares):
        return sum(abs(shares[tag] - chances[tag]) for tag in TAGS) / 2

    for tag in TAGS:
        assert MEASURES["highest_by_chance"].values(source | {"tag": tag}) == [pytest.approx(chances[tag])]
    measured = {name: MEASURES[name].values(source) for name in ("highest_distance", "distance_by_chance")}
    assert measured == {
        "highest_distance": [pytest.approx(distance({tag: 100 * highest[tag] / 3 for tag in TAGS}))],
        "distance_by_chance": [pytest.approx(np.mean([distance(draw) for draw in draws]))],
    }
    assert MEASURES["tag_norm"].values(source | {"tag": "end of sentence"}) == [pytest.approx(1 / 3)]


def test_counts_of_gates_equal_loops(tmp_path):
    random, rows = np.random.default_rng(5), []
    for i in range(60):
        words = np.cumsum(random.random(random.integers(1, 9)) < 0.6)
        words = (words - words[0]).tolist()
        upos = None if i % 7 == 0 else [TAGS[k] for k in random.integers(0, 3, words[-1] + 1)]
        rows.append(gate_row(words, upos, random.integers(1, 20, len(words) + 1).astype(float).tolist()))
    source = write_gates(tmp_path / "gates.parquet", rows)
    tagged = [row for row in rows if row["upos"] is not None]
    highest = Counter(row["upos"][row["norms"].index(max(row["norms"][:-1]))] for row in tagged)
    pieces = [
        (tag, (number, word), norm)
        for number, row in enumerate(tagged)
        for word, tag, norm in zip(row["words"][:-1], row["upos"], row["norms"], strict=False)
    ]
    words = {(tag, place) for tag, place, _ in pieces}
    for tag in TAGS:
        norms = [norm for other, _, norm in pieces if other == tag]
        expected = {
            "highest": highest[tag],
            "highest_share": 100 * highest[tag] / len(tagged),
            "tag_words": 100 * sum(other == tag for other, _ in words) / len(words),
            "tag_subwords": 100 * len(norms) / len(pieces),
            "tag_norm": np.mean(norms),
        }
        assert {name: MEASURES[name].values(source | {"tag": tag}) for name in expected} == {
            name: [pytest.approx(number)] for name, number in expected.items()
        }
    absent = source | {"tag": "X"}
    assert [MEASURES[name].values(absent) for name in ("highest", "tag_words", "tag_norm")] == [[0], [0], []]
    assert MEASURES["highest"].lacks(absent) == ""


def test_without_tags_nothing_is_counted(tmp_path):
    for number, rows in enumerate(([], [gate_row([], [], [2])], [gate_row([0, 0], None, [1, 2, 3])])):
        source = write_gates(tmp_path / f"{number}.parquet", rows)
        assert MEASURES["highest"].lacks(source | {"tag": "NOUN"}) == "the words of test have no tags"


def test_sentences_with_a_construction_are_counted(tmp_path):
    tags = [["S[q]/NP"], ["NP", "conj"], ["NP", "conj"], None]
    rows = [asdict(Annotation(ccg=own)) for own in tags]
    write_rows(tmp_path / "ccg.parquet", pa.schema(ANNOTATION_FIELDS), rows)
    source = {"files": {"supertags": str(tmp_path / "ccg.parquet")}}
    counted = [
        sizes.construction_count(source | {"construction": name, "share": share})
        for name in ("question", "conjunction", "control_raising", sizes.ALL)
        for share in (False, True)
    ]
    assert counted == [[1], [25], [2], [50], [0], [0], [4], [100]]
