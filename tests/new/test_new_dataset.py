"""`nmtcore new dataset` and `nmtcore check`: what they write and say, and mistakes in one sentence."""

import gzip
import json
import re
import shutil
import tarfile

import pytest
import yaml

from nmtcore.cli import main
from nmtcore.config.project import project_of_folder
from nmtcore.errors import UserError, is_hidden
from nmtcore.planning.configured import configured_comparisons
from nmtcore.schemas import file_schemas

SOURCES = ["the cat sees the old dog today", "a mouse finds the small house", "she never hears the dog at night"]
TARGETS = ["die Katze sieht heute den alten Hund", "eine Maus findet das kleine Haus", "sie hört nachts nie den Hund"]


@pytest.fixture(autouse=True)
def _no_models_here(monkeypatch):
    """Make parsers the same on all machines."""
    monkeypatch.setattr("nmtcore.new.known_parsers._installed", lambda language: iter(()))


@pytest.fixture
def text(tmp_path, monkeypatch):
    """A folder with text, which is the current one."""
    (tmp_path / "text").mkdir()
    monkeypatch.chdir(tmp_path)
    for split, count in (("train", 60), ("dev", 4), ("test", 3)):
        for side, sentences in (("en", SOURCES), ("de", TARGETS)):
            rows = [f"{sentences[row % 3]} , {split} {row}" for row in range(count)]
            (tmp_path / f"text/{split}.{side}").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return tmp_path / "text"


def arguments(*more, name="mine", source="en", target="de", folder="mine", **files):
    """Return the arguments of a call in the folder, with other files for some splits."""
    paths = {split: [f"text/{split}.en", f"text/{split}.de"] for split in ("train", "dev", "test")} | files
    options = [word for split, names in paths.items() for word in (f"--{split}", *names)]
    return ["new", "dataset", name, "--source", source, "--target", target, "--folder", folder, *options, *more]


def mistake(capsys, call):
    """Return the message of a call that fails; it must be one line."""
    with pytest.raises(SystemExit) as caught:
        main(call)
    assert caught.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def written(text, name="mine", folder="mine"):
    path = text.parent / folder / f"config/datasets/{name}.yaml"
    return path.read_text(encoding="utf-8"), yaml.safe_load(path.read_text(encoding="utf-8"))


def write_pipeline(folder, name):
    """Write what makes a folder a pipeline of spaCy."""
    (folder / name).mkdir(parents=True)
    (folder / name / "meta.json").write_text(json.dumps({"lang": name[:2], "pipeline": ["tagger", "parser"]}))


def test_the_written_file_says_what_it_chooses(text, root, capsys):
    from jsonschema import Draft7Validator

    main(arguments())
    content, values = written(text)
    assert content.startswith("# yaml-language-server: $schema=../schemas/datasets.schema.json\n")
    assert values == {
        "description": "mine: en to de, 60 training pairs",
        "licence": "",
        "citation": "",
        "source": "en",
        "target": "de",
        "corpora": {
            split: {
                "format": "plain",
                "files": {"source": f"../../text/{split}.en", "target": f"../../text/{split}.de"},
            }
            for split in ("train", "dev", "test")
        },
        "splits": {"train": "train", "dev": "dev", "test": "test"},
        "words": {"kind": "moses", "normalise": "nfc"},
        "filters": ["empty", {"name": "length", "most": 100}, {"name": "ratio", "most": 9}, "duplicates", "held_out"],
        "annotators": {name: {"tool": "stanza", "model": name} for name in ("stanza_en", "stanza_de")},
        "syntax": {
            side: dict.fromkeys(("dependencies", "tags"), name)
            for side, name in (("source", "stanza_en"), ("target", "stanza_de"))
        },
        "segmentation": {"kind": "bpe", "joint": True, "size": 2000},
        "recipe": "small",
        "evaluation": {"text": "detokenised", "tokenize": "13a", "roots": "one"},
    }
    Draft7Validator(file_schemas()["datasets"]).validate(values)
    for system in ("transformer_base", "depparse_l1"):
        run = project_of_folder(text.parent / "mine").run("mine", system, "smoke", 1)
        assert (run.source, run.target, run.segmentation.name) == ("en", "de", "bpe_joint_2000")
    assert max(map(len, content.splitlines())) <= 120
    assert (text.parent / "mine/config/schemas/datasets.schema.json").is_file()
    output = capsys.readouterr().out
    assert "train, dev, test: no odd lines." in output
    assert "dev, test: no pair or source is also in train." in output
    assert "Wrote mine/config/datasets/mine.yaml. Next:\n  " in output
    assert "nmtcore check mine --folder mine\n" in output
    assert f"snakemake -s {root}/Snakefile -d mine --cores 2 results/small/mine/transformer_base.bleu" in output


def test_what_it_sees_changes_what_it_writes(text, capsys):
    """Japanese in other letters and without spaces, tokenised English, half of it German, a line that is not UTF-8."""
    with (text / "train.en").open("wb") as file:
        for row in range(120):
            sentence = SOURCES[row % 3] if row % 2 else TARGETS[row % 3]
            file.write(b"\xe9\n" if row == 7 else f"{sentence} and so on {row} .\n".encode())
    (text / "train.de").write_text(
        "".join(f"古い犬は今日も猫を見ています。{row}\n" for row in range(120)), encoding="utf-8"
    )
    main(arguments(target="ja"))
    content, values = written(text)
    assert values["max_bad_lines"] == 1
    assert "text/train.en, line 8: is not valid UTF-8 (byte 1)" in content
    assert values["words"] == {
        "source": {"kind": "spaces", "normalise": "nfc"},
        "target": {"kind": "mecab", "normalise": "nfc"},
    }
    assert values["segmentation"]["joint"] is False
    assert values["evaluation"] == {"text": "detokenised", "tokenize": "ja", "roots": "one"}
    assert values["filters"][-1] == "held_out", "a filter by language is only shown"
    assert list(values["syntax"]) == ["source"]
    output = capsys.readouterr().out
    assert "train: 1 pair cannot be read (1 not utf-8):" in output
    said = re.search(
        r"train: the filter langdetect would drop (\d+) of 119 pairs, such as\n((  .* \|\|\| .*\n){5})", output
    )
    assert int(said[1]) > 40
    assert (
        "\n  It is often wrong about short sentences. To use it, add the line `  - langdetect` to `filters`." in output
    )
    assert project_of_folder(text.parent / "mine").dataset("mine").max_bad_lines == 1
    path = text.parent / "mine/config/datasets/mine.yaml"
    path.write_text(content.replace("  # - langdetect", "  - langdetect"), encoding="utf-8")
    main(["check", "mine", "--folder", "mine"])
    assert "would drop" not in capsys.readouterr().out


def test_text_that_is_cut_into_words_is_scored_as_such(text):
    """The target decides: what is scored are translations."""
    for split in ("train", "dev", "test"):
        path = text / f"{split}.de"
        path.write_text("".join(f"{line} .\n" for line in path.read_text(encoding="utf-8").splitlines()))
    main(arguments())
    content, values = written(text)
    assert values["words"] == {
        "source": {"kind": "moses", "normalise": "nfc"},
        "target": {"kind": "spaces", "normalise": "nfc"},
    }
    assert values["evaluation"] == {"text": "tokens", "tokenize": "13a", "roots": "one"}
    assert "Signatures say so (text:tokens)" in content
    run = project_of_folder(text.parent / "mine").run("mine", "transformer_base", "smoke", 1)
    assert run.evaluation.text == "tokens"


TURKISH = ["Ankara'da yağmur yağıyor.", "Bugün İstanbul'a gidiyorum!", "Ali'nin evi Boğaz'da mı?"]


def rewritten(text, sentences, splits=("train", "dev", "test")):
    """Write other text to the target side."""
    for split in splits:
        path = text / f"{split}.de"
        rows = len(path.read_text(encoding="utf-8").splitlines())
        path.write_text("".join(f"{sentences[row % len(sentences)]}\n" for row in range(rows)), encoding="utf-8")


def test_words_are_chosen_by_what_can_be_joined_again(text, capsys):
    rewritten(text, TURKISH)
    main(arguments(target="tr"))
    content, values = written(text)
    assert values["words"]["target"] == {"kind": "moses", "normalise": "nfc", "apostrophes": "keep"}
    kept = "joined again score against themselves: dev 100.0 BLEU, test 100.0 BLEU.\n"
    assert kept in capsys.readouterr().out
    main(["check", "mine", "--folder", "mine"])
    output = capsys.readouterr().out
    assert kept in output
    assert "about the most that a system can reach" not in output

    path = text.parent / "mine/config/datasets/mine.yaml"
    path.write_text(re.sub(r"(?m)^words: .*", "words: moses", content), encoding="utf-8")
    main(["check", "mine", "--folder", "mine"])
    output = capsys.readouterr().out
    said = re.search(r"  test: these (\d+\.\d) BLEU are about the most that a system can reach. For example,\n", output)
    assert float(said[1]) < 98
    examples, *_ = output[said.end() :].partition("    Other `words` may lose less: ")
    assert len(examples.splitlines()) == 3
    assert "    Ankara'da yağmur yağıyor. becomes Ankara 'da yağmur yağıyor.\n" in examples
    assert "Nothing here would stop the workflow." in output
    path.write_text(content.replace("text: detokenised", "text: tokens"), encoding="utf-8")
    main(["check", "mine", "--folder", "mine"])
    assert "joined again" not in capsys.readouterr().out, "of tokens nothing is joined"


@pytest.mark.parametrize(
    ("sentence", "language", "tokenize"),
    [("他站在街上，穿着一件红色的夹克。", "zh", "zh"), ("ผู้ชายในเสื้อแจ็คเก็ตสีแดงยืนอยู่ บนถนน 2", "th", "char")],
)  # fmt: skip
def test_text_without_spaces_becomes_characters(sentence, language, tokenize, text, capsys):
    rewritten(text, [sentence])
    main(arguments(target=language))
    values = written(text)[1]
    assert values["words"]["target"] == {"kind": "characters", "normalise": "nfc"}
    assert values["evaluation"]["tokenize"] == tokenize
    assert "themselves: dev 100.0 BLEU, test 100.0 BLEU." in capsys.readouterr().out
    main(["check", "mine", "--folder", "mine"])
    assert "looks unsegmented" not in capsys.readouterr().out


def test_several_tests_are_held_out_of_train(text):
    """The first one is the main test."""
    more = ["news=text/test.en,text/test.de", "web=text/dev.en,text/dev.de"]
    call = arguments()
    call[call.index("--test") :] = ["--test", more[0], "--test", more[1]]
    main(call)
    values = written(text)[1]
    assert values["splits"] == {split: split for split in ("train", "dev", "news", "web")}
    assert values["main_test"] == "news"
    assert values["corpora"]["web"]["files"] == {"source": "../../text/dev.en", "target": "../../text/dev.de"}
    assert values["filters"][-1] == {"name": "held_out", "splits": ["dev", "news", "web"]}
    dataset = project_of_folder(text.parent / "mine").dataset("mine")
    assert (dataset.tests, dataset.held_out) == (("news", "web", "dev"), ("dev", "news", "web"))


TREES = """\
1	A	a	DET	DT	_	2	det	_	_
2	dog	dog	NOUN	NN	_	3	nsubj	_	_
3	sleeps	sleep	VERB	VBZ	_	0	root	_	_

"""


def test_a_treebank_is_a_split_to_compare_parsers_with(text, tmp_path):
    """One beside parallel text, and a test that is a treebank on one side or both."""
    (text / "trees.conllu").write_text(TREES * 3)
    more = ["--gold", "bank=,text/trees.conllu", "--test", "trees=text/trees.conllu,text/trees.conllu2"]
    shutil.copy(text / "trees.conllu", text / "trees.conllu2")
    main(arguments(*more))
    values = written(text)[1]
    assert values["splits"] == {
        **{split: split for split in ("train", "dev", "test", "trees", "gold_bank")},
        "gold_trees": "trees",
    }
    assert values["corpora"]["gold_bank"] == {"format": "conllu", "files": {"target": "../../text/trees.conllu"}}
    assert values["annotators"]["existing"] == {"tool": "existing"}
    project = project_of_folder(tmp_path / "mine", datasets=["mine"])
    assert project.dataset("mine").sides("gold_bank") == ("target",)
    assert sorted(configured_comparisons(project)) == [
        "results/mine/annotation/stanza_de/gold_bank.target.against.existing.json",
        "results/mine/annotation/stanza_de/gold_trees.target.against.existing.json",
        "results/mine/annotation/stanza_en/gold_trees.source.against.existing.json",
    ]


def test_a_treebank_alone_compares_all_parsers_of_its_language(text, tmp_path, capsys):
    (text / "trees.conllu").write_text(TREES * 3)
    for name in ("en_one", "en_two"):
        write_pipeline(tmp_path / "pipelines", name)
    call = ["new", "dataset", "trees", "--source", "en", "--gold", "bank=text/trees.conllu", "--folder", "mine"]
    main([*call, "--models", "pipelines"])
    values = written(text, "trees")[1]
    assert (values.keys() & {"target", "recipe", "segmentation", "syntax", "filters"}) == set()
    assert list(values["annotators"]) == ["existing", "spacy_en_one", "spacy_en_two"]
    output = capsys.readouterr().out
    settings = f"""--config 'datasets=["trees"]' 'models=["{tmp_path}/pipelines"]'"""
    assert f" -d mine --cores 2 results/tables/parsers.md {settings}\n" in output
    project = project_of_folder(tmp_path / "mine", datasets=["trees"], models=["pipelines"])
    assert configured_comparisons(project) == [
        f"results/trees/annotation/spacy_en_{name}/gold_bank.source.against.existing.json" for name in ("one", "two")
    ]
    with pytest.raises(UserError, match=r"^trees is a treebank alone, so nothing is trained on it: ask for results/t"):
        project.run("trees", "transformer_base", "small", 1)
    main(["check", "trees", "--folder", "mine", "--models", "pipelines"])
    output = capsys.readouterr().out
    assert "spacy_en_two: spacy; its model is here" in output
    assert "\nSystems: none, as it is a treebank alone; ask for results/tables/parsers.md\n" in output
    assert output.endswith("\nNothing here would stop the workflow.\n")


def test_without_a_parser_systems_that_need_trees_say_so(text, capsys):
    main(arguments("--parser", "none"))
    content, values = written(text)
    assert "annotators" not in values
    assert "# None is chosen for en or de, so systems that need trees or tags cannot be trained yet." in content
    path = text.parent / "mine" / "config" / "datasets" / "mine.yaml"
    path.write_text(re.sub(r"(?m)^description: .*", r'description: "a \\e[2J\\u202e b"', content))
    capsys.readouterr()
    main(["check", "mine", "--folder", "mine"])
    output = capsys.readouterr().out
    assert "  no annotator for dependencies on the source side: not base* (4), depparse* (" in output
    assert re.search(r"Systems at the scale paper: \d+ of \d+ can be planned; ask for results/mine/SYSTEM", output)
    assert r"mine.yaml: a \x1b[2J\u202e b" in output
    assert not any(map(is_hidden, output)), "control characters of a data set do not reach the terminal"
    assert output.endswith("\nNothing here would stop the workflow.\n")


def test_the_choice_of_a_parser(text, tmp_path, capsys):
    write_pipeline(tmp_path / "pipelines", "de_small")
    main(arguments("--models", "pipelines", "--parser", "spacy"))
    content, values = written(text)
    assert values["annotators"] == {"spacy_de_small": {"tool": "spacy", "model": "de_small"}}
    assert values["syntax"] == {"target": {"dependencies": "spacy_de_small", "tags": "spacy_de_small"}}
    assert "its model is here" in content
    assert f"--config 'models=[\"{tmp_path}/pipelines\"]'" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="1"):
        main(["check", "mine", "--folder", "mine"])
    assert "The annotator spacy_de_small cannot run: there is no spacy model 'de_small'" in capsys.readouterr().out
    main(["check", "mine", "--folder", "mine", "--models", "pipelines"])
    assert "spacy_de_small: spacy; its model is here" in capsys.readouterr().out


def test_tables_archives_several_corpora_and_odd_paths(text, tmp_path, capsys):
    (text / "dev.tsv.gz").write_bytes(gzip.compress(b"a dog\tein Hund\n" * 4))
    odd = tmp_path / "text/a: strange, name [1].en"
    shutil.copy(text / "train.en", odd)
    with tarfile.open(text / "all.tgz", "w:gz") as archive:
        for name in ("train.de", "test.en", "test.de"):
            archive.add(text / name, f"inner/{name}")
    members = [f"text/all.tgz:inner/test.{side}" for side in ("en", "de")]
    call = arguments("--train", str(odd), "text/all.tgz:inner/train.de", test=members)
    call[call.index("--dev") + 1 : call.index("--test")] = ["text/dev.tsv.gz"]
    main(call)
    content, values = written(text)
    assert values["splits"]["train"] == ["train", "train_2"]
    assert values["corpora"]["train_2"]["files"] == {
        "source": "../../text/a: strange, name [1].en",
        "target": {"path": "../../text/all.tgz", "member": "inner/train.de"},
    }
    assert values["corpora"]["dev"] == {"format": "tsv", "files": {"pairs": "../../text/dev.tsv.gz"}}
    assert "mine: en to de, 120 training pairs" in content
    assert project_of_folder(tmp_path / "mine").dataset("mine").corpora["dev"].format == "tsv"
    same = arguments("--force", test=[members[0], members[0]])
    assert f"--test: both sides are the same file, {members[0]}: " in mistake(capsys, same)


SEGMENTS = '<?xml version="1.0"?>\n<mteval><srcset setid="x"><doc docid="1"><url>http://x</url>\n{}</doc></srcset>\n'


def segments_file(path, rows):
    path.write_text(SEGMENTS.format("".join(f'<seg id="{n}">{row}</seg>\n' for n, row in enumerate(rows))))


def test_the_format_of_each_file_is_its_own(text, capsys):
    """Segments in .xml and without an ending, both sides in one file, a memory called .xml, an unknown ending."""
    for side, rows in (("en", SOURCES), ("de", TARGETS)):
        segments_file(text / f"tst.{side}.xml", rows)
        segments_file(text / f"tst.{side}", rows)
        shutil.copy(text / f"dev.{side}", text / f"dev.{side}.foo")
    one = (
        "<?xml version='1.0'?><dataset><doc id='1'><src><seg id='1'>{}</seg></src><ref><seg id='1'>{}</seg></ref></doc>"
    )
    (text / "wmt.xml").write_text(one.format(SOURCES[0], TARGETS[0]))
    unit = (
        "<?xml version='1.0'?><tmx><tu><tuv lang='en'><seg>{}</seg></tuv><tuv lang='de'><seg>{}</seg></tuv></tu></tmx>"
    )
    (text / "memory.xml").write_text(unit.format(SOURCES[1], TARGETS[1]))
    (text / "more.tsv").write_text(f"{SOURCES[2]}\t{TARGETS[2]}\n" * 2)
    tests = ["--test", "bare=text/tst.en,text/tst.de", "--test", "wmt=text/wmt.xml", "--train", "text/more.tsv"]
    tests += ["--train", "text/memory.xml", "--train", "text/test.en", "text/test.de"]
    main(arguments(*tests, dev=["text/dev.en.foo", "text/dev.de.foo"], test=["text/tst.en.xml", "text/tst.de.xml"]))
    content, values = written(text)
    formats = {name: own["format"] for name, own in values["corpora"].items()}
    assert formats == {
        **{"train": "plain", "train_2": "tsv", "train_3": "tmx", "train_4": "plain", "dev": "plain"},
        **dict.fromkeys(("test", "bare", "wmt"), "sgm"),
    }
    assert values["splits"]["train"] == ["train", "train_2", "train_3", "train_4"]
    assert values["corpora"]["wmt"]["files"] == dict.fromkeys(("source", "target"), "../../text/wmt.xml")
    assert "a part of train, which has 66 pairs" in content
    output = capsys.readouterr().out
    assert re.search("test +en +3 .*\n.*\nbare +en +3 .*\n.*\nwmt +en +1 ", output)
    main(["check", "mine", "--folder", "mine"])


def test_the_format_of_a_split_can_be_given(text, capsys):
    (text / "table.txt").write_text(
        "".join(f"{n} | {s} | {t}\n" for n, s, t in zip("123", TARGETS, SOURCES, strict=True))
    )
    options = ["--format", "dev=tsv", "--columns", "3", "2", "--separator", " | "]
    main(arguments(*options, dev=["text/table.txt"]))
    values = written(text)[1]
    assert values["corpora"]["dev"]["options"] == {"source_column": 3, "target_column": 2, "separator": " | "}
    assert values["corpora"]["train"]["format"] == "plain"
    assert "no odd lines" in capsys.readouterr().out
    fault = mistake(capsys, arguments("--force", *options[:2], "--header", dev=["text/table.txt"]))
    assert "The split 'dev' of mine has no pair that can be read" in fault


def test_the_columns_of_a_table_are_shown_if_they_are_wrong(text, capsys):
    rows = [f"{n}\t0.{n}\t{SOURCES[n % 3]}\t{TARGETS[n % 3]}\n" for n in range(40)]
    (text / "train.tsv").write_text("".join(rows))
    line = mistake(capsys, arguments(train=["text/train.tsv"]))
    assert "train: 40 of 40 source sentences drawn have no letters, such as '0': are they text? " in line
    assert f"The columns are 1 '0', 2 '0.0', 3 '{SOURCES[0]}', 4 '{TARGETS[0]}': choose others by" in line
    assert "are the files swapped? " in mistake(capsys, arguments("--columns", "4", "3", train=["text/train.tsv"]))
    (text / "train.tsv").write_text("id\tscore\ten\tde\n" + "".join(rows))
    line = mistake(capsys, arguments("--columns", "3", "4", train=["text/train.tsv"]))
    assert "train.tsv, line 1: this row names the columns: set `header: true`" in line
    main(arguments("--columns", "3", "4", "--header", train=["text/train.tsv"]))
    options = {"source_column": 3, "target_column": 4, "header": True}
    assert written(text)[1]["corpora"]["train"]["options"] == options
    assert re.search("train +en +40 ", capsys.readouterr().out)


def test_nothing_is_overwritten_without_force(text, capsys):
    path = text.parent / "mine/config/datasets/mine.yml"
    schema = text.parent / "mine/config/schemas/datasets.schema.json"
    for own in (path, schema):
        own.parent.mkdir(parents=True)
        own.write_text("by hand")
    assert mistake(capsys, arguments()) == (
        f"nmtcore new: {path} is a data set of that name: choose another name (--force overwrites it)."
    )
    assert path.read_text() == "by hand"
    main(arguments("--force"))
    assert "en to de" in path.read_text()
    assert list(path.parent.iterdir()) == [path]
    assert schema.read_text() == "by hand"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "Mine"}, "'Mine' cannot be the name of a data set: a name has small letters, digits and single "),
        ({"name": "null"}, "'null' means something else in YAML: choose another"),
        ({"name": "small"}, "'small' is also the name of a scale or of a folder in results/: choose another name."),
        ({"name": "cs2en"}, "config/datasets/cs2en.yaml is a data set of that name: choose another name (--force wri"),
        ({"source": "english"}, "--source: 'english' is no language code: write the two letters of ISO 639-1"),
        ({"target": ""}, "--target missing: only a treebank alone (--gold) has one language."),
        ({"target": "ger"}, "if a language has no two). Did you mean de?"),
        ({"dev": ["text/dev.en", "text/no.de"]}, "--dev: text/no.de does not exist."),
        ({"dev": ["/dev/null", "text/dev.de"]}, "--dev: /dev/null is not a regular file, and so cannot be read twice"),
        ({"dev": ["text/dev.en"]}, "--dev has 1 file, but the format plain needs 2: write --dev SOURCE TARGET."),
        ({"dev": ["text/dev.en", "text/x.tmx"]}, "dev.en is plain, but text/x.tmx is tmx: convert one"),
        ({"dev": ["text/dev.en", "text/dev.de", "--header"]}, "are for tables, but no file is one: add --"),
        ({"dev": ["text/dev.en", "text/dev.de", "--format", "web=tsv"]}, "web=tsv: no files are given for web."),
        ({"dev": ["text/dev.en", "text/../text/dev.en"]}, "both sides are the same file, text/dev.en: "),
        ({"test": ["train=text/dev.en,text/dev.de"]}, "--test train: the name means another sort of split: choose"),
        ({"test": ["no=text/dev.en,text/dev.de"]}, "'no' means something else in YAML: choose another name."),
        ({"test": ["text/test.en=1.tsv"]}, "--test: text/test.en=1.tsv does not exist."),
        ({"test": ["text/dev.en"]}, "TARGET; text without references cannot be scored, but `nmtcore tr"),
        ({"test": ["text/test.en", "text/test.de", "--gold", "b"]}, "--gold b: write NAME=SOURCE, NAME=SOURCE,TARGET"),
        ({"dev": ["text/dev.de", "text/dev.en"]}, "seem to be in the language of the other side"),
    ],
)
def test_a_mistake_is_one_sentence(options, message, text, capsys):
    (text / "x.tmx").touch()
    assert message in mistake(capsys, arguments(**options))
    assert not list((text.parent / "mine").rglob("datasets/*"))


def test_lines_that_cannot_be_read_are_a_mistake_unless_they_are_allowed(text, capsys):
    (text / "dev.en").write_bytes(b"caf\xe9\nb\nc\nd\n")
    line = mistake(capsys, arguments())
    assert "1 of 4 pairs of dev cannot be read. The first one: " in line
    assert "text/dev.en, line 1: is not valid UTF-8 (byte 4). Correct the files, or drop these pairs with " in line
    assert line.endswith("--max-bad-lines 1. If it is Latin-1: iconv -f ISO-8859-1 -t UTF-8 OLD > NEW.")
    main(arguments("--max-bad-lines", "1"))
    assert written(text)[1]["max_bad_lines"] == 1


def test_check_names_all_that_would_stop_the_workflow(text, capsys):
    main(arguments())
    path = text.parent / "mine/config/datasets/mine.yaml"
    values = yaml.safe_load(path.read_text()) | {"recipe": "smal"}
    values["annotators"]["stanza_en"]["model"] = "stanza_none"
    path.write_text(yaml.safe_dump(values))
    (text / "dev.en").unlink()
    with (text / "test.de").open("a") as file:
        file.write("one more\n")
    (text / "train.en").write_bytes((text / "train.en").read_bytes().replace(b"cat", b"c\xe4t"))
    capsys.readouterr()
    with pytest.raises(SystemExit, match="1"):
        main(["check", "mine", "--folder", "mine"])
    output = capsys.readouterr().out
    faults = output.partition("\nThis would stop the workflow, or the systems that need it:\n")[2].splitlines()
    assert "  The text of dev was not looked at: it is not all on this machine.\n" in output
    for start in (
        f"  There is no file {text}/dev.en: correct its `path`",
        f"  {text}/test.en has 3 lines, but {text}/test.de has 4",
        f"  20 of 60 pairs of train cannot be read. The first one: {text}/train.en, line 1: is not "
        "valid UTF-8 (byte 6). Correct the files, or drop these pairs with `max_bad_lines: 20`. If it is Latin-1: ",
        "  The annotator stanza_en cannot run: there is no stanza model 'stanza_none'",
    ):
        assert [fault for fault in faults if fault.startswith(start)], start
    assert any("smal" in fault for fault in faults)
    planned, total = map(int, re.search(r"(\d+) of (\d+) can be planned", output).groups())
    stopped = sum(map(int, re.findall(r"\(This stops (\d+) systems\.\)", output)))
    assert planned == 0
    assert 0 < stopped <= total == len(project_of_folder(text.parent / "mine").system_entries)


def test_check_of_the_demo_and_of_an_unknown_name(text, capsys):
    main(["check", "demo_en2de", "--limit", "20"])
    output, errors = capsys.readouterr()
    assert not errors
    assert "contrast_demo: only the first 20 pairs were read." in output
    assert "Files: 12 of 12 on this machine" in output
    assert output.endswith("\nNothing here would stop the workflow.\n")
    assert "unknown data set 'demo_en'" in mistake(capsys, ["check", "demo_en"])
    assert mistake(capsys, ["check", "demo_en2de", "--folder", "no"]).endswith("/no does not exist.")


def test_check_shows_the_settings_of_a_run_and_what_decides_them(text, capsys):
    call = arguments()
    del call[call.index("--folder") : call.index("--folder") + 2]
    main(call)
    assert written(text, folder=".")[1]["corpora"]["dev"]["files"]["source"] == "../text/dev.en"
    capsys.readouterr()
    main(["check", "small/mine/pascal"])
    output = capsys.readouterr().out
    assert re.search(r"^segmentation\.size +2000 +config/datasets/mine\.yaml:\d+ *$", output, re.M)
    rows = {line.split()[0]: line.split() for line in re.sub(r"(?<=yaml):\d+", "", output).splitlines() if line}
    assert rows["segmentation.size"] == ["segmentation.size", "2000", "config/datasets/mine.yaml"]
    by_scale = ["2500", "config/scales/small.yaml", "20000", "(config/recipes/small.yaml)"]
    assert rows["training.max_updates"][1:] == by_scale
    assert rows["components.pascal.kind"][2:] == ["config/systems/bugliarello2020.yaml:", "pascal_heads_1"]
    assert rows["model.heads"][1:] == ["8", "default"]
    assert "smal/mine/pascal: unknown scale 'smal'. Did you mean small?" in mistake(
        capsys, ["check", "smal/mine/pascal"]
    )
    assert "small/mine is no run: write SCALE/DATASET/SYSTEM" in mistake(capsys, ["check", "small/mine"])
    assert "unknown system 'pascl'" in mistake(capsys, ["check", "small/demo_en2de/pascl"])
