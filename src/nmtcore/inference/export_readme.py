"""The README of an exported model: how to use it without nmtcore, in prose and as code that runs."""

from collections.abc import Mapping
from typing import Any

_TOKENISERS = {
    "moses": "split it into words as Moses' `tokenizer.perl -no-escape -l {language}` does",
    "spaces": "split it into words at white space: the text must be tokenised already",
    "mecab": "split it into words with MeCab and the IPA dictionary",
}
_DETOKENISERS = {
    "moses": "join the words with Moses' detokeniser for `{language}`",
    "spaces": "join the words with spaces",
    "mecab": "join the words without spaces, but keep those between words in Latin letters",
}

_TEXT = """# {source} to {target}: {system}

A translation model trained by nmtcore {nmtcore} on the data set {dataset}, exported for {library}. `nmtcore.json` says
for programs what this page says.

## From text to text

{steps}

In Python, from lists of words to lists of words, started in this folder:

```python
{code}
```

## The search

{search}

## Licences

{licences}
"""

_LOADING = """import json

import ctranslate2
{imports}
about = json.load(open("nmtcore.json", encoding="utf-8"))
translator = ctranslate2.Translator(".", intra_threads=1)
{bpe}

def translate(sentences):
    sources = [{pieces} for words in sentences]
    sources = [["<unk>" if piece in about["reserved"] else piece for piece in source] for source in sources]
    longest = max(map(len, sources))
    framed = [about["source_prefix"] + source + about["source_suffix"] for source in sources]
    results = translator.translate_batch(framed, max_decoding_length={limit}, **about["options"])
    outputs = [[piece for piece in result.hypotheses[0] if piece not in about["output_tags"]] for result in results]
    return {words}"""

_BPE = """bpe = BPE(open("{codes}", encoding="utf-8"))
"""


def export_readme(about: Mapping[str, Any]) -> str:
    """Write the page from what nmtcore.json says."""
    steps = [*_input_steps(about), *_output_steps(about)]
    return _TEXT.format(
        **{key: about[key] for key in ("source", "target", "system", "dataset", "nmtcore", "library")},
        steps="\n".join(f"{number}. {step[0].upper()}{step[1:]}." for number, step in enumerate(steps, start=1)),
        code=_code(about),
        search=_search(about),
        licences=_licences(about),
    )


def _input_steps(about: Mapping[str, Any]) -> list[str]:
    words, segmentation = about["words"]["source"], about["segmentation"]
    first = "normalise the punctuation of the source as Moses does" if words["normalise"] else "take the source"
    steps = [f"{first} and {_TOKENISERS[words['tokeniser']].format(**words)}"]
    if segmentation["kind"] == "bpe":
        codes = segmentation["codes"]["source"]
        steps.append(f"cut words with `subword-nmt apply-bpe --codes {codes}`: pieces within a word end in `@@`")
    else:
        steps.append("keep the words whole; those that are not in the vocabulary are `<unk>`")
    steps.append(f"replace text that is one of {_listed(about['reserved'])} by `<unk>`")
    if about["source_prefix"]:
        steps.append(f"put {_listed(about['source_prefix'])} before every source")
    if about["source_suffix"]:
        steps.append(f"put {_listed(about['source_suffix'])} after every source")
    steps.append("translate; the model adds `</s>` to the source by itself")
    return steps


def _output_steps(about: Mapping[str, Any]) -> list[str]:
    words = about["words"]["target"]
    steps = []
    if about["output_tags"]:
        steps.append("drop the tags of the output: the entries in `output_tags`, which begin with a space")
    if about["segmentation"]["kind"] == "bpe":
        steps.append("join pieces that end in `@@` with those after them")
    return [*steps, _DETOKENISERS[words["tokeniser"]].format(**words)]


def _code(about: Mapping[str, Any]) -> str:
    is_bpe = about["segmentation"]["kind"] == "bpe"
    joined = '[(" ".join(pieces) + " ").replace("@@ ", "").split() for pieces in outputs]'
    return _LOADING.format(
        imports="from subword_nmt.apply_bpe import BPE\n" if is_bpe else "",
        bpe=_BPE.format(codes=about["segmentation"]["codes"]["source"]) if is_bpe else "",
        pieces="bpe.segment_tokens(words)" if is_bpe else "list(words)",
        limit=_limit(about["search"]),
        words=joined if is_bpe else "outputs",
    )


def _limit(search: Mapping[str, Any]) -> str:
    """Return an expression for the most pieces of a translation."""
    limits = [] if search["max_length"] is None else [str(search["max_length"])]
    if search["max_length_ratio"] is not None:
        limits.append(f"int({search['max_length_ratio']} * longest) + {search['max_length_extra']}")
    return limits[0] if len(limits) == 1 else f"min({', '.join(limits)})"


def _search(about: Mapping[str, Any]) -> str:
    search, options = about["search"], about["options"]
    text = (
        f"`options` in `nmtcore.json` has the model's beam ({search['beam']}; 1 is greedy search, whose output is that "
        "of nmtcore), allows empty translations and cuts no source. A translation has at most "
        f"`{_limit(search)}` pieces, where `longest` counts those of the source."
    )
    if search["length_penalty"] == "gnmt" and options["length_penalty"]:
        text += (
            f" nmtcore divides the log-probability of a translation of n pieces, `</s>` included, by "
            f"((5 + n) / 6)^{search['alpha']}, CTranslate2 by n^{options['length_penalty']}: with a beam, some "
            "translations differ."
        )
    return f"{text} The model reads and writes at most {about['longest']} pieces unless it has relative positions."


def _licences(about: Mapping[str, Any]) -> str:
    if about["licences"] is None:
        return "Of the data that the model was trained on: unknown; the manifest of its run was not there."
    lines = [
        f"- {entry['name']} ({entry['sort']}): {entry['licence'] or 'unknown'}"
        + (f"; to cite: {entry['citation']}" if entry["citation"] else "")
        for entry in about["licences"]
    ]
    return "\n".join(["Of the data, and models of parsers, that the model was trained with:", "", *lines])


def _listed(entries: list[str]) -> str:
    return ", ".join(f"`{entry}`" for entry in entries)
