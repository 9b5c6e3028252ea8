"""The trees, tags and categories of the demo corpus are valid, and the sentences are grammatical in both languages."""

from collections.abc import Iterator
from itertools import islice

import pytest
from ccg_oracle import derives

from nmtcore.demo import Pair, generate
from nmtcore.demo.trees import Realisation, Word, constituents
from nmtcore.syntax.annotation import annotation_fault
from nmtcore.syntax.constituents import Constituent, leaves, parse_constituents

SAMPLE = 4000

RELATIONS = """
acl acl:relcl advcl advmod amod appos aux aux:pass case cc ccomp compound compound:prt conj cop det
det:poss expl expl:pv fixed iobj mark nmod nmod:poss nsubj nsubj:pass nummod obj obl obl:agent punct
root xcomp
"""
UPOS = "ADJ ADP ADV AUX CCONJ DET NOUN NUM PART PRON PROPN PUNCT SCONJ VERB"
PENN = """
CC CD DT EX IN JJ JJR MD NN NNP NNS POS PRP PRP$ RB RBR RP TO VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB
, .
"""
STTS = """
ADJA ADJD ADV APPR APPRART ART CARD KOKOM KON KOUI KOUS NE NN PDAT PIAT PPER PPOSAT PRELAT PRELS PRF
PTKNEG PTKVZ PTKZU PWAT PWAV PWS VAFIN VAINF VAPP VMFIN VVFIN VVINF VVIZU VVPP $, $.
"""
POS_OF = {
    relation: tags
    for relations, tags in {
        "det det:poss": "DET", "amod": "ADJ", "nummod": "NUM", "case": "ADP PART", "cc": "CCONJ", "mark": "SCONJ PART",
        "punct": "PUNCT", "aux aux:pass cop": "AUX", "advmod": "ADV PART", "nmod": "NOUN PROPN", "compound": "NOUN",
        "nsubj nsubj:pass obj iobj": "NOUN PRON PROPN", "compound:prt": "ADP", "expl expl:pv": "PRON",
        "fixed": "ADP NOUN", "acl:relcl": "VERB ADJ NOUN", "xcomp": "VERB",
    }.items()
    for relation in relations.split()
}  # fmt: skip
LEAVES = {"punct", "aux", "aux:pass", "cop", "cc", "mark", "det", "det:poss", "compound:prt", "expl", "expl:pv"}


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


def _words(sides: list[Realisation], *relations: str) -> Iterator[tuple[Realisation, int, list[list[int]]]]:
    """Yield every word with one of the relations: its sentence, its position and the children of all words."""
    for side in sides:
        if not set(relations).isdisjoint(side.annotation.deprel):
            children = _children(side)
            yield from ((side, at, children) for at in range(len(side.words)) if _relation(side, at) in relations)


def _subtree(children: list[list[int]], top: int) -> set[int]:
    return {top}.union(*(_subtree(children, child) for child in children[top]))


def _feats(side: Realisation, at: int) -> dict[str, str]:
    text = side.annotation.feats[at]
    return {} if text == "_" else dict(part.split("=") for part in text.split("|"))


def _relation(side: Realisation, at: int) -> str:
    return side.annotation.deprel[at]


def _head(side: Realisation, at: int) -> int:
    """Return the position (from 0) of the head of a word."""
    return side.annotation.head[at] - 1


@pytest.mark.parametrize(("language", "tags"), [("english", PENN), ("german", STTS)])
def test_every_tree_is_valid(language, tags, request):
    for side in request.getfixturevalue(language):
        tree = side.annotation
        assert annotation_fault(tree, len(side.words)) is None, side.text
        roots = [relation for relation, head in zip(tree.deprel, tree.head, strict=True) if not head]
        assert roots == [relation for relation in tree.deprel if relation == "root"] == ["root"], side.text
        assert set(RELATIONS.split()).issuperset(tree.deprel)
        assert set(tags.split()).issuperset(tree.xpos), side.text
        for relation, upos, children in zip(tree.deprel, tree.upos, _children(side), strict=True):
            assert upos in POS_OF.get(relation, UPOS).split(), (relation, upos, side.text)
            assert (upos == "PUNCT") == (relation == "punct")
            if relation in LEAVES:
                assert all(_relation(side, child) == "fixed" for child in children), side.text
        for text in set(tree.feats) - {"_"}:
            names, values = zip(*(part.split("=") for part in text.split("|")), strict=True)
            assert list(names) == sorted(set(names), key=str.lower)
            assert all(values)


def _gaps(side: Realisation) -> list[set[int]]:
    """Return the subtrees that are not contiguous."""
    children = _children(side)
    spans = (_subtree(children, top) for top in range(len(side.words)))
    return [span for span in spans if max(span) - min(span) + 1 != len(span)]


def test_trees_are_not_projective_only_if_a_german_clause_is_extraposed(english, german):
    assert not any(map(_gaps, english))
    gaps = list(filter(None, map(_gaps, german)))
    assert 0.01 < len(gaps) / len(german) < 0.15
    for side in german:
        for span in _gaps(side):
            assert any(_relation(side, at) in ("acl:relcl", "xcomp") for at in span), side.text


def _finite_of(side: Realisation, children: list[list[int]], head: int) -> list[int]:
    """Return the finite verbs of the clause that a word heads: itself or its auxiliaries."""
    verbs = [head, *(child for child in children[head] if _relation(side, child) in ("aux", "aux:pass", "cop"))]
    return [verb for verb in verbs if _feats(side, verb).get("VerbForm") == "Fin"]


def _subordinate_heads(german: list[Realisation]) -> Iterator[tuple[Realisation, int, list[list[int]]]]:
    """Yield the heads of the finite subordinate clauses and of those joined to them."""
    for side, at, children in _words(german, "advcl", "ccomp", "acl:relcl"):
        if _finite_of(side, children, at):
            joined = [child for child in children[at] if _relation(side, child) == "conj"]
            yield from ((side, head, children) for head in [at, *joined] if _finite_of(side, children, head))


def test_german_subordinate_clauses_end_in_their_finite_verb(german):
    checked = 0
    for side, head, children in _subordinate_heads(german):
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
    for side, root, children in _words(german, "root"):
        (finite,) = _finite_of(side, children, root)
        before = [child for child in children[root] if child < finite and _relation(side, child) not in ("punct", "cc")]
        top = [root] if root < finite else []
        if side.words[-1] == "." or before:
            assert len(before) + len(top) == 1, side.text
        else:
            assert finite == 0, side.text


def test_infinitives_with_zu_follow_a_comma_except_in_raising(german):
    for side, at, children in _words(german, "xcomp"):
        zu = [child for child in children[at] if side.words[child] == "zu"]
        assert bool(zu) != (side.annotation.xpos[at] == "VVIZU"), side.text
        start = min(_subtree(children, at))
        raising = side.annotation.lemma[_head(side, at)] == "scheinen"
        assert raising or side.words[start] == "," or side.words[start - 1] == ",", side.text


def test_a_comma_precedes_every_german_subordinate_clause(german):
    for side, at, children in _words(german, "advcl", "ccomp", "acl:relcl"):
        inside = [word for word in _subtree(children, at) if side.annotation.upos[word] != "PUNCT"]
        assert min(inside) == 0 or side.words[min(inside) - 1] == ",", side.text
        assert side.words[max(inside) + 1] in (",", ".", "?", "und"), side.text


def _number_of(side: Realisation, children: list[list[int]], subject: int) -> str:
    joined = any(_relation(side, child) == "conj" for child in children[subject])
    return "Plur" if joined else _feats(side, subject).get("Number", "")


@pytest.mark.parametrize("language", ["english", "german"])
def test_the_finite_verb_agrees_with_its_subject(language, request):
    checked = attractors = 0
    for side, at, children in _words(request.getfixturevalue(language), "nsubj", "nsubj:pass"):
        head = _head(side, at)
        if side.annotation.lemma[head] == "be":
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
    agreeing = list(_words(german, "det", "det:poss", "amod"))
    assert len(agreeing) > SAMPLE
    for side, at, _ in agreeing:
        noun, own = _feats(side, _head(side, at)), _feats(side, at)
        assert all(own[feature] == noun[feature] for feature in ("Case", "Gender", "Number")), side.text


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
    for side, at, children in _words(german, "amod"):
        noun = _head(side, at)
        values = _feats(side, noun)
        if values["Case"] == "Gen":
            continue
        strong = not any(_shows_case(side, other) for other in children[noun] if _relation(side, other) != "amod")
        key = (values["Case"], values["Number"] if values["Number"] == "Plur" else values["Gender"])
        weak = ENDINGS.get((values["Case"], values["Number"], values["Gender"]), "en")
        expected = STRONG[key] if strong else weak
        assert side.words[at].endswith(expected), (side.words[at], expected, side.text)
        assert not side.words[at].endswith("een"), side.text
        shown.add((strong, expected))
    assert shown >= {(False, "e"), (False, "en"), *((True, ending) for ending in ("e", "en", "er", "es"))}


def test_relative_pronouns_agree_with_their_antecedents(german):
    relatives = list(_words(german, "acl:relcl"))
    assert len(relatives) > SAMPLE / 20
    for side, at, children in relatives:
        noun = _feats(side, _head(side, at))
        inside = [word for word in _subtree(children, at) if _feats(side, word).get("PronType") == "Rel"]
        relative = _feats(side, min(inside))
        assert (relative["Gender"], relative["Number"]) == (noun["Gender"], noun["Number"]), side.text


def test_verbs_are_separated_from_their_particle_only_in_main_clauses(german):
    separated = list(_words(german, "compound:prt"))
    assert len(separated) > SAMPLE / 50
    for side, at, _ in separated:
        verb = _head(side, at)
        assert side.annotation.lemma[verb].startswith(side.words[at])
        assert not side.words[verb].lower().startswith(side.words[at]), side.text
        assert side.annotation.xpos[verb] == "VVFIN"


def test_ccg_categories_derive_a_sentence_and_include_those_of_all_constructions(english, german):
    assert all(side.annotation.ccg is None for side in german)
    for side in english:
        assert derives(list(side.annotation.ccg)), list(zip(side.words, side.annotation.ccg, strict=True))
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
        ("NP/N N (NP\\NP)/(S[dcl]/NP) NP (S[dcl]\\NP)/NP S[dcl]\\NP", True),
        ("NP/N N (NP\\NP)/(S[dcl]/NP) NP (S[pt]\\NP)/NP S[dcl]\\NP", False),
        ("NP (S[dcl]\\NP)/(S[b]\\NP) (S\\NP)\\(S\\NP) S[b]\\NP", True),
        ("S[wq]/(S[q]/NP) (S[q]/(S[b]\\NP))/NP NP (S[b]\\NP)/NP .", True),
        ("NP S[dcl]\\NP conj S[dcl]\\NP", True),
        ("NP S[dcl]\\NP conj", False),
    ],
)
def test_the_oracle_derives_exactly_the_grammatical_sequences(categories, combine):
    assert derives(categories.split()) == combine


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
    tagged = "the/DET/DT dog/NOUN/NN has/AUX/VBZ not/PART/RB seen/VERB/VBN it/PRON/PRP ./PUNCT/."
    words = [Word(*text.split("/")) for text in tagged.split()]
    relations = [(1, "det"), (4, "nsubj"), (4, "aux"), (4, "advmod"), None, (4, "obj"), (4, "punct")]
    for word, relation in zip(words, relations, strict=True):
        if relation:
            word.head, word.deprel = words[relation[0]], relation[1]
    expected = "(ROOT (S (NP (DT the) (NN dog)) (VP (VBZ has) (VP (RB not) (VBN seen) (NP (PRP it)))) (. .)))"
    assert constituents(words) == expected
