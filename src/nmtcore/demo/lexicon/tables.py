"""Parsers of the lexicon's tables, which have one entry per line and bars between fields."""

from nmtcore.demo.lexicon.entries import (
    Adjective,
    Adverb,
    EnglishVerb,
    GermanVerb,
    Link,
    Name,
    Noun,
    Verb,
)


def _rows(table: str, *, fields: int) -> list[list[str]]:
    rows = [[field.strip() for field in line.split("|")] for line in table.strip().splitlines()]
    return [row + [""] * (fields - len(row)) for row in rows]


def parse_nouns(table: str) -> tuple[Noun, ...]:
    """Parse `singular plural | gender nominative genitive plural | classes | place`.

    Every noun also belongs to the class of its own name, a compound also to that of its last word.
    """
    nouns = []
    for english, german, classes, place in _rows(table, fields=4):
        gender, nominative, genitive, plural = german.split()
        singular, many = english.split()
        nouns.append(
            Noun(
                english=(singular, many),
                gender=gender,  # type: ignore[arg-type]
                nominative=nominative,
                genitive=genitive,
                plural=plural,
                classes=frozenset([*classes.split(), singular, singular.split("_")[-1]]),
                place=tuple(place.split()) or None,  # type: ignore[arg-type]
            )
        )
    return tuple(nouns)


def _regular_past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + "ed"


def _english_verb(text: str) -> EnglishVerb:
    text, _, particle = text.partition("+")
    forms = text.split()
    if len(forms) == 1:
        forms += [_regular_past(forms[0])]
    if len(forms) == 2:
        forms += [forms[1]]
    return EnglishVerb(base=forms[0], past=forms[1], participle=forms[2], particle=particle.strip())


def _german_verb(text: str) -> GermanVerb:
    parts = text.split()
    flags = {part for part in parts if part in ("sein", "sich")}
    infinitive, present, past, participle = (part for part in parts if part not in flags)
    prefix, _, infinitive = infinitive.rpartition("+")
    return GermanVerb(
        infinitive=infinitive,
        present=present,
        past=past,
        participle=participle,
        prefix=prefix,
        sein="sein" in flags,
        reflexive="sich" in flags,
    )


def _link(text: str) -> Link | None:
    if not text:
        return None
    english, german, case = text.split()
    return Link(english=english.strip("-"), german=german.strip("-"), case=case)  # type: ignore[arg-type]


def parse_verbs(table: str, *, frame: str) -> tuple[Verb, ...]:
    """Parse `base past participle +particle | prefix+infinitive er-form past participle sein sich | subjects | takes
    | english german case | tools or the form of the infinitive`; a regular English verb has only its base.
    """
    verbs = []
    for english, german, subjects, takes, link, extra in _rows(table, fields=6):
        verbs.append(
            Verb(
                english=_english_verb(english),
                german=_german_verb(german),
                frame=frame,
                subjects=tuple(subjects.split()),
                takes=tuple(takes.split()),
                link=_link(link),
                tools=() if extra == "ing" else tuple(extra.split()),
                infinitive="ing" if extra == "ing" else "to",
            )
        )
    return tuple(verbs)


def parse_adjectives(table: str) -> tuple[Adjective, ...]:
    """Parse `english comparative | german comparative | classes | stem`; "more" stands for "more tired"."""
    adjectives = []
    for english, german, classes, stem in _rows(table, fields=4):
        adjectives.append(
            Adjective(
                english=english.split()[0],
                english_more=english.split()[1],
                german=german.split()[0],
                german_more=german.split()[1],
                stem=stem or german.split()[0],
                classes=frozenset(classes.split()),
            )
        )
    return tuple(adjectives)


def parse_adverbs(table: str) -> tuple[Adverb, ...]:
    """Parse `english | german | slot | tenses`."""
    return tuple(
        Adverb(english=english, german=german, slot=slot, tenses=tuple(tenses.split()))
        for english, german, slot, tenses in _rows(table, fields=4)
    )


def parse_names(table: str) -> tuple[Name, ...]:
    """Parse `english | german | gender`."""
    return tuple(
        Name(english=english, german=german, gender=gender)  # type: ignore[arg-type]
        for english, german, gender in _rows(table, fields=3)
    )
