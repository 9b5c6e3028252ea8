"""Codes of languages: ISO 639-1, and ISO 639-3 for languages that have no code of two letters."""

import re

from nmtcore.errors import UserError

_ISO_639_1 = """
aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es et
eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk
kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny
oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk
tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
TWO_LETTERS = frozenset(_ISO_639_1.split())
"""The codes of ISO 639-1."""

_THREE_FOR_TWO = """
ara:ar bul:bg cat:ca ces:cs cze:cs chi:zh zho:zh dan:da deu:de ger:de dut:nl nld:nl ell:el gre:el eng:en est:et eus:eu
fas:fa per:fa fin:fi fra:fr fre:fr gle:ga heb:he hin:hi hrv:hr hun:hu ice:is isl:is ita:it jpn:ja kor:ko lav:lv lit:lt
nob:nb nor:no pol:pl por:pt ron:ro rum:ro rus:ru slk:sk slo:sk slv:sl spa:es srp:sr swe:sv tur:tr ukr:uk vie:vi
"""
_OF_COUNTRIES = "cn:zh cz:cs dk:da gr:el jp:ja ua:uk vn:vi"
_MEANT = dict(pair.split(":") for pair in f"{_THREE_FOR_TWO} {_OF_COUNTRIES}".split())
"""The codes of two letters that are meant by codes of three, and by those of countries that are no language's."""


def check_language_code(code: str, *, where: str) -> None:
    """Raise `UserError` unless `code` has two letters of ISO 639-1, or three that stand for no such code."""
    if code in TWO_LETTERS or (re.fullmatch("[a-z]{3}", code) and code not in _MEANT):
        return
    start = re.split("[-_]", code.lower())[0]
    meant = _MEANT.get(start, start)
    hint = f" Did you mean {meant}?" if meant in TWO_LETTERS else ""
    raise UserError(
        f"{where}: '{code}' is no language code: write the two letters of ISO 639-1, such as en or cs (or three of ISO"
        f" 639-3, if a language has no two).{hint}"
    )
