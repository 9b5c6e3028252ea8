"""A chart parser for combinatory categorial grammar that checks whether categories combine to a sentence.

Rules: application, composition (also of the second order and crossed), type raising of NP, coordination,
absorption of punctuation, and N => NP. An S without a feature is a variable, as in EasyCCG.
"""

from functools import cache

Category = tuple
"""("S", "dcl") is atomic, ("/", result, argument) complex; ("conj", category) still lacks its left conjunct."""

ROOTS = {("S", "dcl"), ("S", "q"), ("S", "wq")}
_NP = ("NP", "")
_VP = ("\\", ("S", ""), _NP)
_RAISED = ("/", ("S", ""), _VP)


@cache
def parse_category(text: str) -> Category:
    """Parse a category in CCGbank's notation. Raises ValueError if it is ill-formed."""
    category, rest = _complex(text)
    if rest:
        raise ValueError(f"{text!r}: {rest!r} is left over")
    return category


def _complex(text: str) -> tuple[Category, str]:
    left, rest = _simple(text)
    if rest and rest[0] in "/\\":
        right, after = _simple(rest[1:])
        if after and after[0] in "/\\":
            raise ValueError(f"{text!r} needs brackets")
        return (rest[0], left, right), after
    return left, rest


def _simple(text: str) -> tuple[Category, str]:
    if text.startswith("("):
        inner, rest = _complex(text[1:])
        if not rest.startswith(")") or len(inner) != 3:
            raise ValueError(f"{text!r} is not well bracketed")
        return inner, rest[1:]
    size = next((i for i, sign in enumerate(text) if not (sign.isalpha() or sign in ".,")), len(text))
    if not size:
        raise ValueError(f"{text!r} does not begin with a category")
    name, rest, feature = text[:size], text[size:], ""
    if rest.startswith("["):
        feature, _, rest = rest[1:].partition("]")
    return (name, feature), rest


def _unify(left: Category, right: Category) -> tuple[bool, str]:
    """Unify two categories; return whether they match, and the feature that an S without one takes."""
    if len(left) != len(right):
        return False, ""
    if len(left) == 2:
        free = not left[1] or not right[1]
        same = left[0] == right[0] and (free or left[1] == right[1])
        return same, (left[1] or right[1]) if same and free and left[0] == "S" else ""
    if left[0] != right[0]:
        return False, ""
    results_match, feature = _unify(left[1], right[1])
    arguments_match, argument_feature = _unify(left[2], right[2])
    return results_match and arguments_match, feature or argument_feature


def _with_feature(category: Category, feature: str) -> Category:
    if len(category) == 2:
        return ("S", feature) if category == ("S", "") else category
    return (category[0], _with_feature(category[1], feature), _with_feature(category[2], feature))


def _apply(function: Category, argument: Category) -> Category | None:
    matches, feature = _unify(function[2], argument)
    return (_with_feature(function[1], feature) if feature else function[1]) if matches else None


def _compose(function: Category, argument: Category, inner: str, depth: int = 2) -> Category | None:
    """Combine X|Y with Y|Z into X|Z, or with (Y|Z)|W into (X|Z)|W; the slashes of `argument` must be `inner`."""
    if len(argument) != 3 or argument[0] != inner:
        return None
    result = _apply(function, argument[1])
    if result is None and depth > 1:
        result = _compose(function, argument[1], inner, depth - 1)
    return None if result is None else (inner, result, argument[2])


def _target(category: Category) -> str:
    while len(category) == 3:
        category = category[1]
    return category[0]


@cache
def _combine(left: Category, right: Category) -> frozenset[Category]:
    results: list[Category | None] = []
    if left[0] in ",." and len(left) == 2:
        results.append(right)
    if right[0] in ",." and len(right) == 2:
        results.append(left)
    if left == ("conj", "") and right[0] not in ("conj", ",", "."):
        results.append(("conj", right))
    if right[0] == "conj" and right[1]:
        matches, feature = _unify(left, right[1])
        results.append(_with_feature(left, feature) if matches else None)
    if len(left) == 3 and left[0] == "/":
        results += [_apply(left, right), _compose(left, right, "/")]
    if len(right) == 3 and right[0] == "\\":
        results += [_apply(right, left), _compose(right, left, "\\")]
        if _target(right) == "S":
            results.append(_compose(right, left, "/"))
    return frozenset(category for category in results if category is not None)


def _closed(categories: set[Category]) -> set[Category]:
    if ("N", "") in categories:
        categories = categories | {_NP}
    return categories | {_RAISED} if _NP in categories else categories


def derives(categories: list[str]) -> bool:
    """Return whether the categories of a sentence's words combine to S[dcl], S[q] or S[wq]."""
    size = len(categories)
    chart = {(at, at + 1): _closed({parse_category(text)}) for at, text in enumerate(categories)}
    for length in range(2, size + 1):
        for start in range(size - length + 1):
            end = start + length
            combined: set[Category] = set()
            for middle in range(start + 1, end):
                for left in chart[start, middle]:
                    for right in chart[middle, end]:
                        combined |= _combine(left, right)
            chart[start, end] = _closed(combined)
    return bool(chart[0, size] & ROOTS)
