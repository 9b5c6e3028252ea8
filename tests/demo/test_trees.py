"""The trees, tags and categories of the demo corpus are valid, and the sentences are grammatical in both languages."""

from itertools import islice

import pytest
from ccg_oracle import derives, parse_category

from nmtcore.demo import Pair, generate
from nmtcore.demo.trees import Realisation, Word, constituents
from nmtcore.syntax.annotation import annotation_fault
from nmtcore.syntax.constituents import Constituent, leaves, parse_constituents

SAMPLE = 4000

_RELATIONS = """
acl acl:relcl advcl advmod amod appos aux aux:pass case cc ccomp compound compound:prt conj cop det
det:poss expl expl:pv fixed iobj mark nmod nmod:poss nsubj nsubj:pass nummod obj obl obl:agent punct
root xcomp
"""
RELATIONS = set(_RELATIONS.split())
POS_OF = {
    "det": {"DET"},
    "det:poss": {"DET"},
    "amod": {"ADJ"},
    "nummod": {"NUM"},
    "case": {"ADP", "PART"},
    "cc": {"CCONJ"},
    "mark": {"SCONJ", "PART"},
    "punct": {"PUNCT"},
    "aux": {"AUX"},
    "aux:pass": {"AUX"},
    "cop": {"AUX"},
    "advmod": {"ADV", "PART"},
    "nsubj": {"NOUN", "PRON", "PROPN"},
    "nsubj:pass": {"NOUN", "PRON", "PROPN"},
    "obj": {"NOUN", "PRON", "PROPN"},
    "iobj": {"NOUN", "PRON", "PROPN"},
    "nmod": {"NOUN", "PROPN"},
    "compound": {"NOUN"},
    "compound:prt": {"ADP"},
    "expl": {"PRON"},
    "expl:pv": {"PRON"},
    "fixed": {"ADP", "NOUN"},
    "acl:relcl": {"VERB", "ADJ", "NOUN"},
    "xcomp": {"VERB"},
}
LEAVES = {"punct", "aux", "aux:pass", "cop", "cc", "mark", "det", "det:poss", "compound:prt", "expl", "expl:pv"}
_UPOS = """
ADJ ADP ADV AUX CCONJ DET NOUN NUM PART PRON PROPN PUNCT SCONJ VERB
"""
UPOS = set(_UPOS.split())
_PENN = """
CC CD DT EX IN JJ JJR MD NN NNP NNS POS PRP PRP$ RB RBR RP TO VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB
, .
"""
PENN = set(_PENN.split())
_STTS = """
ADJA ADJD ADV APPR APPRART ART CARD KOKOM KON KOUI KOUS NE NN PDAT PIAT PPER PPOSAT PRELAT PRELS PRF
PTKNEG PTKVZ PTKZU PWAT PWAV PWS VAFIN VAINF VAPP VMFIN VVFIN VVINF VVIZU VVPP $, $.
"""
STTS = set(_STTS.split())


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return list(islice(generate(split="train", count=SAMPLE, seed=11), SAMPLE))


@pytest.fixture(scope="module")
def english(pairs) -> list[Realisation]:
    return [pair.source for pair in pairs]


@pytest.fixture(scope="module")
def german(pairs) -> list[Realisation]:
    return [pair.target for pair in pairs]


def _children(side: Realisation) -> list[list[int]]:
    """Return the positions (from 0) of the children of every word."""
    children: list[list[int]] = [[] for _ in side.words]
    for at, head in enumerate(side.annotation.head):
        if head:
            children[head - 1].append(at)
    return children


def _subtree(children: list[list[int]], top: int) -> set[int]:
    return {top}.union(*(_subtree(children, child) for child in children[top]))


def _feats(side: Realisation, at: int) -> dict[str, str]:
    text = side.annotation.feats[at]
    return {} if text == "_" else dict(part.split("=") for part in text.split("|"))


def _relation(side: Realisation, at: int) -> str:
    return side.annotation.deprel[at]


def test_every_tree_is_valid_and_has_one_root(english, german):
    for side in [*english, *german]:
        assert annotation_fault(side.annotation, len(side.words)) is None, side.text
        assert list(side.annotation.head).count(0) == 1, side.text
        assert side.annotation.deprel[list(side.annotation.head).index(0)] == "root"
        assert list(side.annotation.deprel).count("root") == 1, side.text


def test_labels_and_tags_belong_to_their_inventories(english, german):
    for sides, tags in ((english, PENN), (german, STTS)):
        for side in sides:
            assert set(side.annotation.deprel) <= RELATIONS
            assert set(side.annotation.upos) <= UPOS
            assert set(side.annotation.xpos) <= tags, set(side.annotation.xpos) - tags


def test_every_relation_has_one_of_its_parts_of_speech(english, german):
    for side in [*english, *german]:
        for relation, upos in zip(side.annotation.deprel, side.annotation.upos, strict=True):
            assert upos in POS_OF.get(relation, UPOS), (relation, upos, side.text)
            assert (upos == "PUNCT") == (relation == "punct")


def test_function_words_have_no_dependents(english, german):
    for side in [*english, *german]:
        for at, children in enumerate(_children(side)):
            if _relation(side, at) in LEAVES:
                assert all(_relation(side, child) == "fixed" for child in children), side.text


def test_features_are_sorted_and_unique(english, german):
    for side in [*english, *german]:
        for at, text in enumerate(side.annotation.feats):
            names = [part.split("=")[0] for part in text.split("|")]
            assert text == "_" or (names == sorted(names, key=str.lower) and len(set(names)) == len(names))
            assert text == "_" or all(_feats(side, at).values())


def _is_projective(side: Realisation) -> bool:
    children = _children(side)
    return all(max(span := _subtree(children, top)) - min(span) + 1 == len(span) for top in range(len(side.words)))


def test_english_is_projective(english):
    for side in english:
        assert _is_projective(side), side.text


def test_german_is_not_projective_only_if_a_clause_is_extraposed(german):
    crossing = [side for side in german if not _is_projective(side)]
    assert 0.01 < len(crossing) / len(german) < 0.15
    for side in crossing:
        children = _children(side)
        for top in range(len(side.words)):
            span = _subtree(children, top)
            if max(span) - min(span) + 1 != len(span):
                assert any(_relation(side, at) in ("acl:relcl", "xcomp") for at in span), side.text


def _finite_of(side: Realisation, children: list[list[int]], head: int) -> list[int]:
    """Return the finite verbs of the clause that a word heads: itself or its auxiliaries."""
    verbs = [head, *(child for child in children[head] if _relation(side, child) in ("aux", "aux:pass", "cop"))]
    return [verb for verb in verbs if _feats(side, verb).get("VerbForm") == "Fin"]


def _subordinate_heads(side: Realisation, children: list[list[int]]) -> list[int]:
    """Return the heads of the finite subordinate clauses."""
    heads = []
    for at, relation in enumerate(side.annotation.deprel):
        if relation in ("advcl", "ccomp", "acl:relcl") and _finite_of(side, children, at):
            heads.append(at)
            heads += [
                child
                for child in children[at]
                if _relation(side, child) == "conj" and _finite_of(side, children, child)
            ]
    return heads


def test_german_subordinate_clauses_end_in_their_finite_verb(german):
    checked = 0
    for side in german:
        children = _children(side)
        for head in _subordinate_heads(side, children):
            (finite,) = _finite_of(side, children, head)
            checked += 1
            for child in children[head]:
                if child > finite:
                    extraposed = _relation(side, child) in ("punct", "conj", "advcl", "ccomp", "xcomp", "cc")
                    assert extraposed, (side.text, side.words[child])
                elif child < finite:
                    later = [at for at in _subtree(children, child) if at > finite]
                    assert not later or any(_relation(side, at) == "acl:relcl" for at in later), side.text
            verbs = [child for child in children[head] if _relation(side, child) in ("aux", "aux:pass", "cop")]
            assert all(verb <= finite for verb in [*verbs, head]), side.text
            assert "compound:prt" not in [_relation(side, child) for child in children[head]], side.text
    assert checked > SAMPLE / 10


def test_german_main_clauses_have_their_finite_verb_second(german):
    for side in german:
        children = _children(side)
        root = list(side.annotation.head).index(0)
        (finite,) = _finite_of(side, children, root)
        before = [child for child in children[root] if child < finite and _relation(side, child) not in ("punct", "cc")]
        top = [root] if root < finite else []
        if side.words[-1] == "." or before:
            assert len(before) + len(top) == 1, side.text
        else:
            assert finite == 0, side.text


def test_infinitives_with_zu_follow_a_comma_except_in_raising(german):
    for side in german:
        children = _children(side)
        for at, relation in enumerate(side.annotation.deprel):
            if relation == "xcomp":
                zu = [child for child in children[at] if side.words[child] == "zu"]
                assert bool(zu) != (side.annotation.xpos[at] == "VVIZU"), side.text
                start = min(_subtree(children, at))
                raising = side.annotation.lemma[side.annotation.head[at] - 1] == "scheinen"
                assert raising or side.words[start] == "," or side.words[start - 1] == ",", side.text


def test_a_comma_precedes_every_german_subordinate_clause(german):
    for side in german:
        children = _children(side)
        for at, relation in enumerate(side.annotation.deprel):
            if relation in ("advcl", "ccomp", "acl:relcl"):
                inside = [word for word in _subtree(children, at) if side.annotation.upos[word] != "PUNCT"]
                start = min(inside)
                assert start == 0 or side.words[start - 1] == ",", side.text
                assert side.words[max(inside) + 1] in (",", ".", "?", "und"), side.text


def _number_of(side: Realisation, children: list[list[int]], subject: int) -> str:
    joined = any(_relation(side, child) == "conj" for child in children[subject])
    return "Plur" if joined else _feats(side, subject).get("Number", "")


@pytest.mark.parametrize("language", ["english", "german"])
def test_the_finite_verb_agrees_with_its_subject(language, request):
    checked = attractors = 0
    for side in request.getfixturevalue(language):
        children = _children(side)
        for at, relation in enumerate(side.annotation.deprel):
            head = side.annotation.head[at] - 1
            if relation not in ("nsubj", "nsubj:pass") or side.annotation.lemma[head] == "be":
                continue
            number = _number_of(side, children, at)
            for verb in _finite_of(side, children, head):
                values = _feats(side, verb)
                if number and "Number" in values and side.words[at].lower() not in ("you", "du"):
                    assert values["Number"] == number, side.text
                    assert values["Person"] == _feats(side, at).get("Person", "3"), side.text
                    checked += 1
            inner = [_feats(side, word).get("Number") for word in _subtree(children, at) - {at}]
            attractors += any(other not in (None, number) for other in inner)
    assert checked > SAMPLE / 2
    assert attractors > SAMPLE / 50


def test_german_determiners_and_adjectives_agree_with_their_noun(german):
    checked = 0
    for side in german:
        for at, relation in enumerate(side.annotation.deprel):
            if relation in ("det", "det:poss", "amod"):
                noun = _feats(side, side.annotation.head[at] - 1)
                for feature in ("Case", "Gender", "Number"):
                    assert _feats(side, at)[feature] == noun[feature], side.text
                checked += 1
    assert checked > SAMPLE


ENDINGS = {
    # After a determiner with an ending, an adjective ends in -e or -en (weak inflection).
    ("Nom", "Sing", "Masc"): "e", ("Nom", "Sing", "Fem"): "e", ("Nom", "Sing", "Neut"): "e",
    ("Acc", "Sing", "Fem"): "e", ("Acc", "Sing", "Neut"): "e",
}  # fmt: skip
STRONG = {
    ("Nom", "Masc"): "er", ("Acc", "Masc"): "en", ("Dat", "Masc"): "em", ("Nom", "Fem"): "e", ("Acc", "Fem"): "e",
    ("Dat", "Fem"): "er", ("Nom", "Neut"): "es", ("Acc", "Neut"): "es", ("Dat", "Neut"): "em", ("Nom", "Plur"): "e",
    ("Acc", "Plur"): "e", ("Dat", "Plur"): "en",
}  # fmt: skip


def _shows_case(side: Realisation, at: int) -> bool:
    """Return whether a word before an adjective shows the case, so that the adjective is weak."""
    if side.annotation.xpos[at] == "APPRART":
        return True
    if side.annotation.upos[at] != "DET":
        return False
    if side.annotation.lemma[at] in ("einige", "viele", "wenige"):
        return False
    uninflected = ("ein", "kein", "mein", "dein", "sein", "ihr", "unser")
    return side.words[at].lower() not in uninflected


def test_german_adjectives_have_weak_or_strong_endings_according_to_the_determiner(german):
    """Duden's rule of thumb: either the determiner or, if it has no ending, the adjective shows case and gender."""
    shown = set()
    for side in german:
        for at, relation in enumerate(side.annotation.deprel):
            if relation != "amod" or _feats(side, at)["Case"] == "Gen":
                continue
            values = _feats(side, side.annotation.head[at] - 1)
            siblings = [other for other, head in enumerate(side.annotation.head) if head == side.annotation.head[at]]
            strong = not any(_shows_case(side, other) for other in siblings if _relation(side, other) != "amod")
            key = (values["Case"], values["Number"] if values["Number"] == "Plur" else values["Gender"])
            weak = ENDINGS.get((values["Case"], values["Number"], values["Gender"]), "en")
            expected = STRONG[key] if strong else weak
            assert side.words[at].endswith(expected), (side.words[at], expected, side.text)
            assert not side.words[at].endswith("een"), side.text
            shown.add((strong, expected))
    assert shown >= {(False, "e"), (False, "en"), *((True, ending) for ending in ("e", "en", "er", "es"))}


def test_relative_pronouns_agree_with_their_antecedents(german):
    checked = 0
    for side in german:
        children = _children(side)
        for at, relation in enumerate(side.annotation.deprel):
            if relation != "acl:relcl":
                continue
            noun = _feats(side, side.annotation.head[at] - 1)
            inside = [word for word in _subtree(children, at) if _feats(side, word).get("PronType") == "Rel"]
            relative = _feats(side, min(inside))
            assert (relative["Gender"], relative["Number"]) == (noun["Gender"], noun["Number"]), side.text
            checked += 1
    assert checked > SAMPLE / 20


def test_verbs_are_separated_from_their_particle_only_in_main_clauses(german):
    separated = 0
    for side in german:
        for at, relation in enumerate(side.annotation.deprel):
            if relation == "compound:prt":
                verb = side.annotation.head[at] - 1
                assert side.annotation.lemma[verb].startswith(side.words[at])
                assert not side.words[verb].lower().startswith(side.words[at]), side.text
                assert side.annotation.xpos[verb] == "VVFIN"
                separated += 1
    assert separated > SAMPLE / 50


def test_ccg_categories_derive_a_sentence(english):
    for side in english:
        assert derives(list(side.annotation.ccg)), " ".join(
            f"{word}|{category}" for word, category in zip(side.words, side.annotation.ccg, strict=True)
        )


def test_german_has_no_ccg_categories(german):
    assert all(side.annotation.ccg is None for side in german)


def test_ccg_categories_include_those_of_all_constructions(english):
    seen = {category for side in english for category in side.annotation.ccg}
    assert 90 < len(seen) < 500
    assert {
        "(S[dcl]\\NP)/NP", "NP/N", "N/N", "conj", "(NP\\NP)/NP", "((S\\NP)\\(S\\NP))/NP", "(NP\\NP)/(S[dcl]\\NP)",
        "(NP\\NP)/(S[dcl]/NP)", "S[wq]/(S[q]/NP)", "(S[to]\\NP)/(S[b]\\NP)", "PP/NP", "(S/S)/S[dcl]",
        "((S\\NP)\\(S\\NP))/S[dcl]", "S[em]/S[dcl]", "S[qem]/S[dcl]", "((S[dcl]\\NP)/(S[to]\\NP))/NP",
    } <= seen  # fmt: skip


@pytest.mark.parametrize(
    ("categories", "combine"),
    [
        ("NP (S[dcl]\\NP)/NP NP .", True),
        ("NP (S[dcl]\\NP)/NP .", False),
        ("NP/N N/N N S[dcl]\\NP (S\\NP)\\(S\\NP)", True),
        ("NP/N N (NP\\NP)/(S[dcl]/NP) NP (S[dcl]\\NP)/NP S[dcl]\\NP", True),
        ("NP/N N (NP\\NP)/(S[dcl]/NP) NP (S[pt]\\NP)/NP S[dcl]\\NP", False),
        ("NP (S[dcl]\\NP)/(S[b]\\NP) (S\\NP)\\(S\\NP) S[b]\\NP", True),
        ("NP (S[dcl]\\NP)/(S[b]\\NP) S[pt]\\NP", False),
        ("S[wq]/(S[q]/NP) (S[q]/(S[b]\\NP))/NP NP (S[b]\\NP)/NP .", True),
        ("NP S[dcl]\\NP conj S[dcl]\\NP", True),
        ("NP S[dcl]\\NP conj", False),
    ],
)
def test_the_oracle_derives_exactly_the_grammatical_sequences(categories, combine):
    assert derives(categories.split()) == combine


@pytest.mark.parametrize("text", ["", "S\\NP/NP", "(S\\NP", "S)", "(NP)", "/NP"])
def test_the_oracle_rejects_malformed_categories(text):
    with pytest.raises(ValueError):
        parse_category(text)


def test_the_oracle_agrees_with_the_parallel_meaning_bank(shared):
    lines = (shared / "data/ccg/pmb4_en_dev.txt").read_text(encoding="utf-8").splitlines()
    derived = total = 0
    for line in filter(None, lines[:600]):
        categories = [word.rpartition("|")[2] for word in line.split()]
        if not any(":" in category for category in categories):
            total += 1
            derived += derives(categories)
    assert derived / total > 0.9


def _spans(tree: Constituent) -> dict[tuple[int, int], list[str]]:
    """Return the labels of the phrases by span: (first word, word after the last), from 0."""
    spans: dict[tuple[int, int], list[str]] = {}

    def walk(node: Constituent, start: int) -> int:
        if node.preterminal:
            return start + 1
        end = start
        for child in node.children:
            end = walk(child, end)
        spans.setdefault((start, end), []).append(node.label)
        return end

    walk(tree, 0)
    return spans


def test_english_constituents_cover_the_words_and_contain_whole_subtrees(english, german):
    assert all(side.annotation.constituency is None for side in german)
    for side in english:
        tree = parse_constituents(side.annotation.constituency)
        assert leaves(tree) == side.words
        spans, children = _spans(tree), _children(side)
        assert spans[0, len(side.words)][-1] == "ROOT"
        for at, below in enumerate(children):
            words = _subtree(children, at)
            phrase = spans.get((min(words), max(words) + 1))
            assert phrase or not below, side.text
            if _relation(side, at) in {"obj", "iobj"}:
                assert phrase in (["NP"], ["NP", "NP"]), side.text
            if _relation(side, at) == "obl" and any(_relation(side, child) == "case" for child in below):
                assert phrase[0] == "PP" or any(_relation(side, child) == "conj" for child in below), side.text
            if any(_relation(side, child).startswith("nsubj") for child in below):
                assert {"S", "SBAR"} & set(phrase), side.text


def test_a_tree_that_is_not_projective_has_no_constituents():
    words = [Word(form, "NOUN", "NN") for form in "abcd"]
    for dependent, head in [(0, 2), (1, 3), (3, 2)]:
        words[dependent].head, words[dependent].deprel = words[head], "nmod"
    with pytest.raises(ValueError, match="the words below 'c' are not contiguous: the tree is not projective"):
        constituents(words)


def test_phrases_of_one_head_are_nested():
    the, dog, has, not_, seen, it, stop = (
        Word(form, upos, tag)
        for form, upos, tag in [
            ("the", "DET", "DT"), ("dog", "NOUN", "NN"), ("has", "AUX", "VBZ"), ("not", "PART", "RB"),
            ("seen", "VERB", "VBN"), ("it", "PRON", "PRP"), (".", "PUNCT", "."),
        ]
    )  # fmt: skip
    relations = [(the, dog, "det"), (dog, seen, "nsubj"), (has, seen, "aux"), (not_, seen, "advmod"), (it, seen, "obj")]
    for word, head, relation in [*relations, (stop, seen, "punct")]:
        word.head, word.deprel = head, relation
    expected = "(ROOT (S (NP (DT the) (NN dog)) (VP (VBZ has) (VP (RB not) (VBN seen) (NP (PRP it)))) (. .)))"
    assert constituents([the, dog, has, not_, seen, it, stop]) == expected
