"""Surveys of made-up broken files, each count against a plain loop; shares of other languages in a sample."""

import random
import re
import subprocess
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from nmtcore.config.catalogue import full_form
from nmtcore.corpus.filters import detect_language
from nmtcore.new.dataset_report import survey_lines
from nmtcore.new.survey import (
    FEWEST_JUDGED,
    ODD,
    SideSurvey,
    SplitSurvey,
    judge_texts,
    oddities,
    percentile,
    survey_dataset,
)

ODD_TEXTS = {
    "misread": ["Frau MÃ¼ller", "said â€œnoâ€"],
    "entities": ["Tom &amp; Jerry", "&#8217;"],
    "hyphens": ["state @-@ owned"],
    "pieces": ["bro@@ ther", "bro@@", "▁bro ther"],
    "marks": ["x \ufeff mark"],
    "invisible": ["made \u200bto", "Auto\u00adfahrer"],
    "decomposed": ["Ka\u0308se"],
}
"""Texts with one oddity each."""
POOL = [
    "", "  ", "a", "one two", "one  two ", "the small dog sees the old cat .", "w " * 251, "w " * 250, "x" * 2501,
    "x" * 2500, "a b c d e f g h i j", "a b c d e f g h i", "bell \x07 here", "tab\there", "line\u2028end", "c1 \x85 x",
    "wrong \ufffd mark", "日本語の文", "日本語 の 文 です", "<2de> Hello", "<3 x", "\u200b\ufeff ",
    *(text for texts in ODD_TEXTS.values() for text in texts),
]  # fmt: skip


def settings_of(corpora, splits, **others):
    values = {"description": "d", "source": "en", "target": "de", "recipe": "small", "words": "moses", **others}
    values |= {"corpora": corpora, "splits": splits, "segmentation": {"kind": "bpe", "size": 1}}
    return full_form("mine", values, {}, where="mine")


def dataset(tmp_path, texts, *, splits=None, limit=None, source="en", target="de", words="moses", languages=False):
    """Write a file per split and side (bytes), and survey the splits."""
    corpora = {}
    for split, sides in texts.items():
        paths = {role: tmp_path / f"{split}.{role}" for role in sides}
        for role, path in paths.items():
            path.write_bytes(sides[role])
        corpora[split] = {"format": "plain", "files": {role: {"path": str(path)} for role, path in paths.items()}}
    splits = splits or {split: split for split in texts} | {"test": "dev"}
    settings = settings_of(corpora, splits, source=source, target=target, words=words)
    with pytest.MonkeyPatch.context() as patch:
        if not languages:  # they take long
            patch.setattr("nmtcore.new.survey.detected_languages", tuple)
        return survey_dataset(settings, limit=limit)


def lines(texts):
    return "".join(f"{text}\n" for text in texts).encode()


def both(texts):
    return {"source": lines(source for source, _ in texts), "target": lines(target for _, target in texts)}


def random_pairs(count, seed):
    draw = random.Random(seed)
    return [(draw.choice(POOL), draw.choice(POOL)) for _ in range(count)]


def visible(text):
    return text.replace("\u200b\ufeff", "")


def oddities_by_a_loop(source, target):
    """Judge a pair without the code's shortcuts."""
    unspaced = re.compile("[぀-ヿ㐀-䶿一-鿿]")
    control = {chr(c) for c in (*range(0x20), *range(0x7F, 0xA0))} - {"\t"}
    odd, words = set(), (visible(source).split(), visible(target).split())
    odd |= {name for name, texts in ODD_TEXTS.items() if source in texts or target in texts}
    odd |= {"marks", "invisible"} if "\u200b\ufeff" in source + target else set()
    if len(words[0]) == 0 or len(words[1]) == 0:
        odd.add("empty")
    else:
        if words[0] == words[1]:
            odd.add("identical")
        in_characters = unspaced.search(source) or unspaced.search(target)
        left, right = (len(source), len(target)) if in_characters else (len(words[0]), len(words[1]))
        if left / right > 9 or right / left > 9:
            odd.add("unbalanced")
    for text, text_words in ((source, words[0]), (target, words[1])):
        if len(text_words) > 250 or len(text) > 2500:
            odd.add("long")
        if set(text) & control:
            odd.add("control")
        if re.match(" *</?[A-Za-z0-9]", text) and ">" in text.lstrip(" <"):
            odd.add("tag")
        if "\ufffd" in text:
            odd.add("replaced")
    return odd


def as_read(text):
    """Replace separators of lines, as reading does."""
    return re.sub("[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", " ", text)


def test_counts_of_a_split_are_those_of_a_plain_loop(tmp_path):
    texts = {"train": list(product(POOL, POOL)), "dev": random_pairs(30, 2)}
    survey = dataset(tmp_path, {split: both(pairs) for split, pairs in texts.items()})
    texts["test"] = texts["dev"]
    for split, pairs in texts.items():
        # Readers take a byte order mark off the first line only.
        pairs[0] = tuple(text.removeprefix("\ufeff") for text in pairs[0])
        split_survey = survey.splits[split]
        assert (split_survey.pairs, split_survey.is_cut) == (len(pairs), False)
        assert split_survey.separators == sum(as_read(text) != text for pair in pairs for text in pair)
        corpus = "dev" if split == "test" else split
        for name in ODD:
            odd = [number for number, pair in enumerate(pairs, 1) if name in oddities_by_a_loop(*map(as_read, pair))]
            assert odd or split != "train"
            assert split_survey.odd[name] == [f"{corpus}:{number}" for number in odd]
            assert [line.partition(": ")[0] for line in split_survey.shown[name]] == split_survey.odd[name][:5]
        for column, side in enumerate(("source", "target")):
            assert split_survey.sides[side].words.tolist() == [len(visible(pair[column]).split()) for pair in pairs]
            assert split_survey.sides[side].characters.tolist() == [len(pair[column]) for pair in pairs]
            assert split_survey.sides[side].unit == "words"


def test_overlaps_are_those_of_a_plain_loop(tmp_path):
    texts = {"dev": random_pairs(60, 5), "other": random_pairs(40, 6), "train": random_pairs(90, 7)}
    splits = {"train": "train", "dev": "dev", "test": "other"}
    survey = dataset(tmp_path, {split: both(pairs) for split, pairs in texts.items()}, splits=splits)
    normal = {
        corpus: [tuple(" ".join(visible(text.removeprefix("\ufeff" * (row == 0))).split()) for text in pair)
                 for row, pair in enumerate(pairs)]
        for corpus, pairs in texts.items()
    }  # fmt: skip
    train = normal["train"]
    for split, corpus in (("dev", "dev"), ("test", "other")):
        overlap = survey.splits[split].in_train
        assert overlap.pairs == sum(pair in train for pair in normal[corpus]) > 0
        assert overlap.sources == sum(pair[0] in [source for source, _ in train] for pair in normal[corpus])
        assert overlap.pairs < overlap.sources


def numbered(numbers):
    return both([(f"source {number}", f"target {number}") for number in numbers])


@pytest.mark.parametrize(("dev", "test", "shared"), [(40, 300, 5), (300, 40, 5), (40, 40, 4)])
def test_tests_that_share_more_than_a_tenth_with_dev_are_named(dev, test, shared, tmp_path):
    """A tenth of the smaller one of the two."""
    texts = {"train": range(1000, 1040), "dev": range(dev), "test": range(dev - shared, dev - shared + test)}
    splits = {split: split for split in texts}
    survey = dataset(tmp_path, {split: numbered(numbers) for split, numbers in texts.items()}, splits=splits)
    said = [line.partition(", so")[0] for line in survey_lines(survey) if line.startswith("test: ") and "dev" in line]
    assert said == [f"test: {shared} of {test} pairs are also in dev"] * (shared > 4)


@pytest.mark.parametrize(("split", "side"), [("dev", "source"), ("test", "target")])
def test_a_side_that_is_blank_is_a_fault(split, side, tmp_path):
    """Blank lines among others are counted; of a part of a file, nobody knows."""
    texts = {"train": numbered(range(40)), "dev": numbered(range(50, 55)), "test": numbered(range(60, 65))}
    splits = {own: own for own in texts}
    blank = b"\n \n\t\n\xc2\xa0\n\n"
    survey = dataset(tmp_path, texts | {split: texts[split] | {side: blank[:-1] + b"word\n"}}, splits=splits)
    assert (survey.faults, len(survey.splits[split].odd["empty"])) == ([], 4)
    blind = texts | {split: texts[split] | {side: blank}}
    (fault,) = dataset(tmp_path, blind, splits=splits).faults
    assert fault.startswith(
        f"The split '{split}' of mine has only blank lines on its {side} side: give a file with text"
    )
    assert ("`nmtcore translate MODEL < FILE` translates it" in fault) == (split == "test")
    cut = dataset(tmp_path, blind, splits=splits, limit=3)
    assert (cut.faults, cut.splits["train"].pairs, cut.splits["train"].is_cut) == ([], 3, True)


def test_faults_that_end_reading_are_told(tmp_path):
    train = {"source": b"a\nb\n", "target": b"a\nb\nc\n"}
    survey = dataset(tmp_path, {"train": train, "dev": both([("a b", "c d")])})
    (said,) = survey.faults
    assert f"train.source has 2 lines, but {tmp_path}/train.target has 3" in said


MANY_EN = [f"The old dog sees house number {n} and then goes home" for n in range(FEWEST_JUDGED)]
MANY_DE = [f"Der alte Hund sieht das Haus Nummer {n} und geht dann heim" for n in range(FEWEST_JUDGED)]
MANY_FR = [f"Le vieux chien voit la maison numéro {n} et puis il rentre" for n in range(FEWEST_JUDGED)]
NUMBERS = [f"{n}.5" for n in range(FEWEST_JUDGED)]
CHINESE = [f"两只{name}狗在草地上奔跑。" for name in ("train", "Linux", "Emacs", "Python")] * 5
WRONG_SIDES = {
    "numbers": (NUMBERS[:18] + MANY_EN[18:], MANY_DE, "18 of 20 source sentences drawn have no letters, such as '"),
    "another language": (MANY_EN, MANY_FR[:18] + MANY_DE[18:], "18 of 20 target sentences drawn seem to be in another"),
    "swapped": (
        MANY_EN,
        [f"{text}!" for text in MANY_EN[:11]] + MANY_DE[11:],
        "11 of 20 target sentences drawn seem to",
    ),
    "copied from a third one": (MANY_FR * 10 + MANY_EN, MANY_FR * 10 + MANY_DE, None),
    "words that look like another language": (MANY_EN, ["Haus", "Hund", "Katze", "Maus", "alt"] * 4, None),
}


@pytest.mark.parametrize("name", WRONG_SIDES)
def test_a_side_of_numbers_or_in_another_language_is_a_fault(name, tmp_path):
    *sides, fault = WRONG_SIDES[name]
    texts = {"train": both(list(zip(*sides, strict=True))), "dev": both([("a b", "c d")])}
    survey = dataset(tmp_path, texts, languages=True)
    assert [sentence.startswith(f"train: {fault}") for sentence in survey.faults[:1]] == ([True] if fault else [])


def test_latin_names_do_not_hide_chinese(tmp_path):
    texts = {"train": both(list(zip(MANY_EN, CHINESE, strict=True))), "dev": both([("a b", "两只狗")])}
    survey = dataset(tmp_path, texts, target="zh", languages=True)
    assert survey.splits["train"].sides["target"].others > 0.5
    assert survey.faults == []


def test_scripts_without_spaces_are_measured_in_characters(tmp_path):
    texts = dict.fromkeys(
        ("train", "dev"), both([("これは 日本語の文です", "this is a sentence"), ("短い文", "short")])
    )
    source, target = dataset(tmp_path, texts, source="ja", target="en").splits["train"].sides.values()
    assert (source.unit, source.lengths.tolist(), target.lengths.tolist()) == ("characters", [11, 3], [4, 1])


@pytest.mark.parametrize(
    ("words", "sides"), [("moses", ["source", "target"]), ({"source": "mecab", "target": "spaces"}, ["target"])]
)
def test_unsegmented_text_is_named_unless_it_will_be_segmented(words, sides, tmp_path):
    pairs = [(f"これは日本語の長い文です{number}", "这是一个没有空格的句子") for number in range(4)]
    texts = {"train": both(pairs[:2]), "dev": both(pairs[2:])}
    survey = dataset(tmp_path, texts, source="ja", target="zh", words=words)
    assert survey.faults == []
    assert [sentence.partition(" side")[0] for sentence in survey.unsegmented] == [f"train: The {s}" for s in sides]
    assert "(average 11 characters per word): write `characters`, " in survey.unsegmented[-1]
    segmented = [("これ は 日本 語 の 長い 文 です", "这 是 一个 没有 空格 的 句子"), ("", "")]
    texts = dict.fromkeys(("train", "dev"), both(segmented))
    assert dataset(tmp_path, texts, source="ja", target="zh", words=words).unsegmented == []


def test_a_treebank_with_one_side_is_not_odd(tmp_path):
    path = tmp_path / "bank.conllu"
    path.write_bytes(b"".join(b"1\t%s\t_\tX\t_\t_\t0\troot\t_\t_\n\n" % word for word in (b"Hund", b"Katze")))
    corpora = {"bank": {"format": "conllu", "files": {"source": {"path": str(path)}}}}
    settings = settings_of(
        corpora, dict.fromkeys(("train", "dev", "test", "gold_bank"), "bank"), source="de", target="en"
    )
    split = survey_dataset(settings).splits["gold_bank"]
    assert list(split.sides) == ["source"]
    assert split.pairs == 2
    assert not any(split.odd.values())


ENGLISH = [
    "The children are playing in the garden behind the house.", "We have been waiting for this letter since last week.",
    "There is nothing more that I could tell you about it.", "They walked through the old town without any hurry.",
]  # fmt: skip
GERMAN = [
    "Die Kinder spielen im Garten hinter dem alten Haus.", "Wir warten schon seit letzter Woche auf diesen Brief.",
    "Es gibt nichts mehr, was ich dir darüber erzählen könnte.", "Sie gingen ohne Eile durch die Straßen der Altstadt.",
]  # fmt: skip
LANGUAGES = {"source": "en", "target": "de"}


def judged(sample, languages):
    survey = SplitSurvey(sides={side: SideSurvey() for side in languages}, sample=sample)
    return survey, judge_texts(survey, languages)


def test_shares_are_what_the_filter_drops():
    sample = [*zip(ENGLISH, GERMAN, strict=True), (GERMAN[0], GERMAN[1]), ("", GERMAN[1]), ("123", "456")]
    survey, faults = judged(sample, LANGUAGES)
    for column, side in enumerate(("source", "target")):
        texts = [pair[column] for pair in sample if pair[column]]
        dropped = [text for text in texts if detect_language(text) != LANGUAGES[side]]
        assert len(dropped) == (2, 1)[column]
        assert survey.sides[side].others == pytest.approx(len(dropped) / len(texts))
    assert faults == []
    assert survey.dropped == [
        pair
        for pair in sample
        if all(pair) and any(detect_language(text) != code for text, code in zip(pair, LANGUAGES.values(), strict=True))
    ]


def test_a_language_that_langdetect_does_not_know_is_left_out():
    survey, faults = judged([(ENGLISH[0], "Dźěći hrajkaja w zahrodźe.")], {"source": "en", "target": "hsb"})
    assert (survey.sides["source"].others, survey.sides["target"].others) == (0, None)
    assert (survey.dropped, faults) == ([], []), "the filter would refuse the language"


GERMAN_TEXT, FRENCH, CZECH = "größer als früher, in Österreich", "Où est l’hôtel ? très près d’ici", "Příliš žluťoučký"
RUSSIAN, GREEK, JAPANESE, TURKISH = "Съешь же ещё булок", "Η γρήγορη αλεπού", "日本語の文です", "Çok güzel bir akşam"
WESTERN = [GERMAN_TEXT, FRENCH, CZECH, RUSSIAN, GREEK, JAPANESE, TURKISH]
MISREAD = {"cp1252": WESTERN, "latin-1": WESTERN, "cp1250": [GERMAN_TEXT, FRENCH, CZECH], "cp1251": [RUSSIAN, GREEK],
           "mac_roman": [GERMAN_TEXT, FRENCH], "cp850": [GERMAN_TEXT, FRENCH]}  # fmt: skip
CLEAN = {
    "misread": [*WESTERN, "«\u00a0le marché\u00a0»", "à\u00a0«\u00a0la", "„Mit Spaß“, ja", "”HYVÄ”…", "É… É»", "NÃO",
                "MANHÃ", "Ăştia", "Вјетар у Србији", "СІРІ ВІВЦІ", "√π ± 2", "┌──┐│├─", "50 € – “no”", "Été à Évian"],
    "entities": ["R&D; AT&T", "a & b;", "&c; &", "?a=1&b=2"],
    "hyphens": ["me@-@you", "@ - @", "a-b"],
    "pieces": ["a@@b", "@@", "x ## y", "▂▃▁", "# x", "## Title", "user@ host"],
    "invisible": ["می\u200cخواهم", "\u0915\u094d\u200d\u0937", "ខ្ញុំ\u200bទៅ", "👩\u200d🚀"],
    "decomposed": [*WESTERN, "\u0958\u093c", "की", "한국어", "שָׁלוֹם", "नमस्ते"],
}  # fmt: skip
"""Clean text that is like an oddity."""


def is_odd(name, text):
    columns = {"source": [text], "target": ["b"], "source_words": [text.split()], "target_words": [["b"]]}
    return bool(oddities(pa.record_batch(columns))[name][0])


@pytest.mark.parametrize("encoding", MISREAD)
def test_utf_8_that_was_read_as_another_encoding_is_odd(encoding):
    texts = (text.encode().decode(encoding, "replace") for text in MISREAD[encoding])
    assert [text for text in texts if not is_odd("misread", text)] == []


@pytest.mark.parametrize("name", CLEAN)
def test_clean_text_is_not_odd(name):
    assert [text for text in CLEAN[name] if is_odd(name, text)] == []


@pytest.mark.parametrize(
    ("cut", "text"),
    [
        ("bro@@ ther allo@@ ws n@@", "brother allows n"),
        ("▁The ▁bro ther ▁sees .", "The brother sees."),
        ("bro ##ther see ##s", "brother sees"),
        ("brother ￭'s car ￭.", "brother's car."),
    ],
)
def test_pieces_are_a_fault_with_a_command_that_undoes_them(cut, text, tmp_path):
    clean = [(f"one {row}", f"zwei {row}") for row in range(20)]
    pairs = [list(pair) for pair in clean]
    for row in (3, 6, 9):
        pairs[row][1] = cut
    survey = dataset(tmp_path, {"train": both(pairs), "dev": both(clean)})
    (fault,) = survey.faults
    assert fault.startswith("train: 3 of 20 target sentences drawn are cut into pieces")
    command = re.search(r"in all files: (.*) FILE > NEW", fault)[1]
    undone = subprocess.run(["bash", "-c", command], input=f"{cut}\n", text=True, capture_output=True, check=True)
    assert undone.stdout == f"{text}\n"
    pairs[3][1] = pairs[6][1] = "few"
    survey = dataset(tmp_path, {"train": both(pairs), "dev": both(clean)})
    assert survey.faults == []
    assert survey.splits["train"].odd["pieces"] == ["train:10"]


def sentences(count, seed):
    """Make pairs of sentences of different lengths."""
    draw = random.Random(seed)
    sources = [
        " ".join(draw.choices(["a", "house", "behind", "the", "Michelin"], k=draw.randrange(3, 25)))
        for _ in range(count)
    ]
    return [(source, source.upper() + " !") for source in sources]


def shift(pairs, place):
    """Delete a line of the source, and the last of the target."""
    sources, targets = zip(*pairs, strict=True)
    return list(zip(sources[:place] + sources[place + 1 :], targets[:-1], strict=True))


def test_shifted_files_are_a_fault_with_the_line(tmp_path):
    pairs, clean = sentences(400, 1), sentences(400, 2)
    survey = dataset(tmp_path, {"train": both(shift(pairs, 10)), "dev": both(clean)})
    (fault,) = survey.faults
    line = int(re.match(r"train: from about line (\d+) of train on, ", fault)[1])
    assert abs(line - 11) <= 2
    assert "but with the target 1 line below they do (" in fault
    assert "the source seems to lack 1 line there, or the target to have 1 line more." in fault


def test_sides_in_another_order_are_a_fault_if_they_are_sentences(tmp_path):
    sources, targets = zip(*sentences(600, 5), strict=True)
    unordered = list(zip(sources, random.Random(6).sample(targets, 600), strict=True))
    formulas = [(f"{'on' * (row % 40)} {row}", f"{'aus' * (row * 7 % 40)} {row}") for row in range(600)]
    few = unordered[:300]
    survey = dataset(
        tmp_path, {"train": both(unordered), "dev": both(formulas), "few": both(few), "all": both(sentences(600, 7))}
    )
    (fault,) = survey.faults
    assert fault.startswith("train: the lengths of both sides hardly go together (correlation ")
    assert not any(own.notes for own in survey.splits.values())


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99, 1.0])
def test_percentiles_are_those_of_the_sorted_list(share):
    draw = random.Random(4)
    for count in (1, 2, 3, 99, 100, 101):
        values = [draw.randrange(20) for _ in range(count)]
        expected = next(v for v in sorted(values) if sum(other <= v for other in values) >= share * count)
        assert percentile(np.array(values), share) == expected
    assert percentile(np.zeros(0, int), share) == 0


def test_an_oddity_is_shown_where_it_is(tmp_path):
    pairs = [("x" * 200 + " MÃ¼ller " + "y" * 200, "Ä" * 100 + " \u200b")] * 7
    shown = dataset(tmp_path, {"train": both(pairs), "dev": both(pairs)}).splits["train"].shown
    assert shown["misread"] == [
        f"train:{row}: ...{'x' * 23} MÃ¼ller {'y' * 18}... ||| {'Ä' * 50}..." for row in range(1, 6)
    ]
    assert shown["invisible"][0].endswith(f" ||| ...{'Ä' * 25} \\u200b")


def test_few_shifted_pairs_of_many_are_noted(tmp_path):
    pairs = sentences(20_200, 3)
    pairs = [*pairs[:9000], *shift(pairs[9000:9181], 0), *pairs[9181:]]
    survey = dataset(tmp_path, {"train": both(pairs), "dev": both(sentences(5, 4))})
    assert survey.faults == []
    (note,) = survey.splits["train"].notes
    assert abs(int(re.search(r"from about line (\d+) of train on", note)[1]) - 9001) < 5
