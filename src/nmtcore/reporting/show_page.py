"""The page of `nmtcore show`: sentences with their trees, translations, tags, gates, and the attention of any head.

Shapes: K keys, Q queries.
"""

import base64
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import Any

from nmtcore.drawing.gates import GATES_STYLE, gated_pieces, gates_range
from nmtcore.drawing.svg import titled_svg
from nmtcore.drawing.trees import DrawnTree, column_widths, tree_drawing, word_centres
from nmtcore.inference.schemas import (
    AnalysedModel,
    AnalysedSentence,
    AttentionHead,
    LabelledTree,
    TaggedWord,
    is_of_decoder,
)
from nmtcore.reporting.html_document import html_document, json_script
from nmtcore.tables.render import scrolling

_PARSE_TITLES = {
    "supervised": "Parsed by the model",
    "chain": "Heads by the model, which may not form a tree",
    "induced": "Induced by the model",
}


def show_page(model: AnalysedModel, *, gold: str | None = None, note: str = "") -> str:
    """Write the page of a model's analyses.

    `gold` names the treebank of the gold trees; `note` is a sentence about what the page leaves out.
    """
    title = f"{model.system} on {model.dataset}, {model.source} to {model.target}"
    sections = "".join(_sentence_html(model, number, gold) for number in range(len(model.sentences)))
    body = (
        f"<h1>{escape(title)}</h1>\n{_introduction(note)}{_controls(model)}{sections}"
        f"{json_script(_page_data(model), id_='data')}"
    )
    style = GATES_STYLE + _package_text("show_page.css")
    return html_document(title, body, style=style, script=_package_text("show_page.js"))


def head_name(head: AttentionHead) -> str:
    """Name an attention in words; layers and heads count from 0, as in `nmtcore parse --attention`."""
    if head.layer is None:
        return f"{head.attention}, in the encoder"
    if head.attention not in ("encoder", "cross"):
        return f"{head.attention}, from the decoder to the source"
    place = "encoder" if head.attention == "encoder" else "decoder to source"
    component = f" ({head.component})" if head.component else ""
    return f"{place}, layer {head.layer}, head {head.head}{component}"


def _package_text(name: str) -> str:
    return files("nmtcore.reporting").joinpath(name).read_text(encoding="utf-8")


def _introduction(note: str) -> str:
    return (
        '<p class="screen">Open a sentence, and choose a head to see its attention: the darker a cell, the more its '
        "row attends to its column (on a dark page: the brighter). Arcs that the gold tree lacks are orange.</p>\n"
        f"<p>{escape(note)}</p>\n<noscript><p>Maps are drawn by a script.</p></noscript>\n"
    )


def _controls(model: AnalysedModel) -> str:
    options = []
    special = [n for n, head in enumerate(model.heads) if head.component or head.layer is None]
    chosen = special[0] if special else 0
    numbered = enumerate(model.heads)
    for (attention, layer), group in groupby(numbered, key=lambda item: (item[1].attention, item[1].layer)):
        listed = [
            f'<option value="{number}"{" selected" if number == chosen else ""}>{escape(head_name(head))}</option>\n'
            for number, head in group
        ]
        name = attention if layer is None else f"{attention}, layer {layer}"
        options.append(f'<optgroup label="{escape(name)}">\n{"".join(listed)}</optgroup>\n')
    return (
        '<div class="controls" role="group" aria-label="What is drawn">\n'
        f'<label for="head">Attention head <select id="head" autocomplete="off">\n{"".join(options)}</select></label>\n'
        '<label for="numbers"><input type="checkbox" id="numbers" autocomplete="off">Numbers in the cells</label>\n'
        '<button type="button" id="open-all">Open all</button>\n'
        '<button type="button" id="close-all">Close all</button>\n'
        '<span>0 % <span class="legend" role="img" aria-label="from light to dark"></span> 100 %</span>\n'
        "</div>\n"
    )


def _sentence_html(model: AnalysedModel, row: int, gold: str | None) -> str:
    sentence = model.sentences[row]
    source = f'<bdi lang="{escape(model.source)}">{escape(sentence.text)}</bdi>'
    translation = f'<bdi lang="{escape(model.target)}">{escape(sentence.translation) or "(empty)"}</bdi>'
    opened = " open" if row == 0 else ""
    return (
        f'<details data-sentence="{row}"{opened}>\n<summary>{sentence.number}. {source}\n'
        f'<span class="translation">{translation}</span></summary>\n<div class="sentence">\n'
        f"{_tags_html(sentence.tags, model.target)}{_gates_html(model, sentence)}{_trees_html(model, sentence, gold)}"
        f'<h2 class="head-name"></h2>\n<output></output>\n{_figure("data-map", "attention")}</div>\n</details>\n'
    )


def _figure(attributes: str, label: str, drawing: str = "", caption: str = "") -> str:
    box = scrolling(drawing, label, name="drawing")
    return f"<figure {attributes}>\n{box}<figcaption>{escape(caption)}</figcaption>\n</figure>\n"


def _trees_html(model: AnalysedModel, sentence: AnalysedSentence, gold: str | None) -> str:
    """Draw the trees below one another; that of the head that is chosen is left to the script."""
    trees: list[tuple[str, str, LabelledTree | None]] = []
    if sentence.gold is not None:
        read = ", read by the model" if sentence.gold_is_read else ""
        trees.append(("gold", "Gold tree" + (f" of {gold}" if gold else "") + read, sentence.gold))
    trees += [
        (f"annotation-{number}", f"Parsed by {name}, read by the model", tree)
        for number, (name, tree) in enumerate(sentence.annotations.items())
    ]
    if sentence.parse is not None:
        trees.append(("parse", _PARSE_TITLES[model.trees], LabelledTree(sentence.parse, None)))
    if any(head.attention == "encoder" for head in model.heads):
        trees.append(("head", "Tree of the chosen head", None))
    if not trees:
        return '<p class="muted">There is no tree of this sentence.</p>\n'
    return "".join(_tree_html(sentence, name, title, tree) for name, title, tree in trees)


def _tree_html(sentence: AnalysedSentence, name: str, title: str, tree: LabelledTree | None) -> str:
    drawing = caption = ""
    if tree is not None:
        compared = None if name == "gold" or sentence.gold is None else sentence.gold.heads
        drawn = tree_drawing(DrawnTree("", sentence.words, tree.heads, tree.labels, compared=compared))
        arcs = (f"{word}: {sentence.words[head - 1] if head else 'root'}"
                for word, head in zip(sentence.words, tree.heads, strict=True))  # fmt: skip
        drawing = titled_svg(f"Heads of the words: {'; '.join(arcs)}", [drawn], embedded=True)
        if compared is not None:
            right = sum(head == other for head, other in zip(tree.heads, compared, strict=True))
            caption = f"{right} of {len(tree.heads)} words have their gold head."
    figure = _figure(f'data-tree="{name}"', title, drawing, caption)
    return f"<section>\n<h2>{escape(title)}</h2>\n{figure}</section>\n"


def _tags_html(tags: list[TaggedWord] | None, language: str) -> str:
    if tags is None:
        return ""
    words = []
    for word, tag, probability in tags:
        said = "no tag" if tag is None else f"{tag} {probability:.0%}"
        shown = f'<bdi lang="{escape(language)}">{escape(word)}</bdi> <small>{escape(said)}</small>'
        words.append(f'<span class="tagged">{shown}</span>\n')
    return f"<h2>Predicted tags</h2>\n<div>{''.join(words)}</div>\n"


def _gates_html(model: AnalysedModel, sentence: AnalysedSentence) -> str:
    if sentence.gates is None:
        return ""
    low, high = gates_range(analysed.gates for analysed in model.sentences if analysed.gates is not None)
    return (
        f"<h2>Gate norms, from {low:.2f} to {high:.2f} in all sentences: the darker, the larger (on a dark page: the "
        "brighter); the largest is bold</h2>\n"
        f'<div class="gates" lang="{escape(model.target)}" dir="auto">{gated_pieces(sentence.gates, low, high)}</div>\n'
    )


def _page_data(model: AnalysedModel) -> dict[str, Any]:
    """Return what the script draws; weights are bytes, in percent, in base64."""
    return {
        "heads": [
            {"name": head_name(head), "rows": _rows_sentence(head), "decoder": is_of_decoder(head)}
            for head in model.heads
        ],
        "sentences": [_sentence_data(sentence) for sentence in model.sentences],
    }


def _rows_sentence(head: AttentionHead) -> str:
    """Say what the rows and columns of a map are."""
    if is_of_decoder(head):
        return "Rows: subwords of the translation; columns: subwords of the source."
    if head.layer is None:
        return "Rows: dependents; columns: their heads, where a subword itself stands for the root."
    return "Rows and columns: subwords of the source."


def _sentence_data(sentence: AnalysedSentence) -> dict[str, Any]:
    centres, width = word_centres(column_widths(DrawnTree("", sentence.words, [])))
    return {
        "words": list(sentence.words),
        "centres": [round(centre) for centre in centres],
        "width": round(width),
        "gold": None if sentence.gold is None else list(sentence.gold.heads),
        "parse": sentence.parse,
        "trees": sentence.head_trees,
        "source": sentence.source_tokens,
        "target": sentence.target_tokens,
        "weights": [base64.b64encode(weights_QK.tobytes()).decode("ascii") for weights_QK in sentence.weights],
    }
