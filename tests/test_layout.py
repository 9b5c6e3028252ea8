import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.layout import (
    FILES,
    INSIDE,
    JOBS,
    NAME,
    RESERVED,
    SCORES,
    STAGES,
    TEMPLATES,
    Layout,
    Place,
    file_name,
    model_of,
)

SCALES = ("smoke", "small")
LAYOUTS = (
    Layout(scales=SCALES),
    Layout(),
    Layout(results="/data/my.results/", downloads="/data/raw", scales=SCALES),
    Layout(results="."),
)

names = st.from_regex(NAME, fullmatch=True).filter(lambda name: len(name) < 12)
numbers = st.integers(0, 99).map(str)
VALUES = {
    "dataset": names.filter(lambda name: name not in (*RESERVED, *SCALES)),
    "system": names.filter(lambda name: name not in STAGES),
    "split": names,
    "side": st.sampled_from(["source", "target"]),
    "annotator": names.filter(lambda name: name != "selection"),
    "other": names,
    "segmentation": st.sampled_from(["bpe_joint_2000", "bpe_16000", "words_50000", "words_joint_7"]),
    "seed": numbers,
    "shard": numbers,
    "shards": numbers,
    "score": st.sampled_from(SCORES),
    "table": st.one_of(st.just(""), names.map(lambda name: f"{name}/")),
    "file": st.from_regex(r"[a-z]+(/[a-z.]+){0,2}\.gz", fullmatch=True),
    "scale": st.sampled_from(["paper", *SCALES]),
}


def names_of(kind):
    """The names that a kind's path holds, a scale for a root."""
    found = {"scale" if name == "root" else name for name in re.findall(r"\{(\w+)\}", TEMPLATES[kind])}
    return sorted(found - {"results", "downloads"})


places = st.sampled_from(sorted(TEMPLATES)).flatmap(
    lambda kind: st.fixed_dictionaries({name: VALUES[name] for name in names_of(kind)}).map(
        lambda found: Place(kind, found)
    )
)


@given(st.sampled_from(LAYOUTS), places)
def test_a_path_is_read_as_it_is_built(layout, place):
    path = layout.path(place.kind, **place.names)
    assert layout.parse(path) == place
    assert layout.names(path, place.kind) == place.names


@given(st.sampled_from(LAYOUTS), places)
def test_the_wildcards_of_a_pattern_match_what_is_built_and_no_other_kind(layout, place):
    path = layout.path(place.kind, **place.names)
    matching = {kind for kind in TEMPLATES if re.fullmatch(as_expression(layout, kind), path)}
    assert matching == {place.kind}


def as_expression(layout, kind):
    """The expression that Snakemake makes of a pattern."""
    texts = re.split(r"\{(\w+)\}", layout.pattern(kind))
    wildcards = [f"(?P<{name}>{layout.constraints[name]})" for name in texts[1::2]]
    rest = [name + re.escape(text) for name, text in zip(wildcards, texts[2::2], strict=True)]
    return "".join([re.escape(texts[0]), *rest])


@given(st.sampled_from(LAYOUTS), names, names, names)
def test_what_is_read_builds_the_same_path(layout, first, second, third):
    for path in (f"{first}/{second}.bleu", f"{first}/{second}/seed1/model", f"{first}/{second}/{third}/seed1/model"):
        place = layout.parse(f"{layout.results}/{path}")
        if place is not None:
            assert layout.path(place.kind, **place.names) == f"{layout.results}/{path}"


@pytest.mark.parametrize(
    "path",
    [
        "results/demo/corpus/raw/train.txt",
        "results/demo/corpus/Train.parquet",
        "results/demo/annotation/selection/dev.parquet",
        "results/demo/corpus/seed1/model",
        "results/smoke/corpus/train.parquet",
        "results/tables/parser/seed1/model",
        "results/paper/demo/transformer_base.bleu",
        "results/elsewhere/demo/transformer_base.bleu",
        "results/demo/transformer_base.blue",
        "other/demo/transformer_base.bleu",
        "results",
    ],
)
def test_paths_that_mean_nothing(path):
    assert Layout(scales=SCALES).parse(path) is None


def test_the_scale_is_in_the_root():
    layout = Layout(results="out/", scales=SCALES)
    assert layout.path("summary", scale="paper", dataset="d", system="s", score="uas") == "out/d/s.uas"
    assert layout.path("summary", scale="smoke", dataset="d", system="s", score="uas") == "out/smoke/d/s.uas"
    for scale in ("paper", *SCALES):
        assert layout.scale(layout.root(scale)) == scale


def test_a_pattern_leaves_open_what_is_not_given():
    layout = Layout()
    assert layout.pattern("pairs", split="train") == "results/{dataset}/corpus/train.parquet"
    assert layout.log("train_model") == "{root}/logs/{dataset}/{system}/seed{seed}.training.log"
    assert layout.benchmark("read_split") == "results/benchmarks/{dataset}/corpus/raw.{split}.tsv"


def test_names_that_are_missing_or_unknown():
    layout = Layout()
    with pytest.raises(ValueError, match="of the kind pairs needs split"):
        layout.path("pairs", dataset="demo")
    with pytest.raises(ValueError, match="of the kind model needs root"):
        layout.path("model", dataset="demo", system="s", seed=1)
    with pytest.raises(ValueError, match="of the kind pairs has no side"):
        layout.pattern("pairs", side="source")
    with pytest.raises(ValueError, match="is no path of the kind pairs"):
        layout.names("results/demo/corpus/raw/train.parquet", "pairs")


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("tokens", {"split": "dev", "side": "source"}),
        ("syntax", {"split": "dev", "side": "target", "annotator": "spacy"}),
        ("linearised", {"split": "train", "annotator": "corenlp"}),
        ("truecaser", {"side": "target"}),
        ("history", {}),
    ],
)
def test_a_file_name_is_the_end_of_the_path(kind, names):
    folders = {"dataset": "demo", "segmentation": "bpe_2000", "system": "s", "seed": 1, "scale": "small"}
    needed = {name: folders[name] for name in names_of(kind) if name not in names}
    assert Layout().path(kind, **needed, **names).split("/")[-1] == file_name(kind, **names)


def test_names_of_files_in_folders_that_jobs_make():
    assert [file_name(kind, split="test") for kind in ("translations", "references", "parses")] == [
        "test.txt",
        "test.references.txt",
        "test.parquet",
    ]
    assert [file_name(kind, side="source") for kind in ("codes", "vocabulary")] == ["source.codes", "source.vocab"]
    assert not INSIDE.keys() & TEMPLATES.keys()


def test_a_file_name_needs_its_own_names_and_no_others():
    with pytest.raises(ValueError, match="of the kind syntax needs annotator"):
        file_name("syntax", split="dev", side="source")
    with pytest.raises(ValueError, match="of the kind tokens has no dataset"):
        file_name("tokens", dataset="demo", split="dev", side="source")


def test_a_download_tells_whose_model_it_is_of():
    assert model_of("models/easyccg/easyccg.jar") == "easyccg"
    assert model_of("europarl/models.gz") is model_of("models/notes.txt") is None


def test_existing_files_of_a_kind(tmp_path):
    layout = Layout(results=tmp_path / "r[1]")
    folder = tmp_path / "r[1]/demo/annotation/parser"
    folder.mkdir(parents=True)
    for name in ("dev.source.json", "test.source.json", "test.target.json", "test.source.against.gold.json", "x.json"):
        (folder / name).touch()
    found = layout.existing("annotation_report", dataset="demo", side="source")
    assert found == [folder / "dev.source.json", folder / "test.source.json"]
    assert layout.existing("annotation_report", dataset="other") == []


def test_every_kind_of_file_has_a_path_of_its_own():
    assert len(set(TEMPLATES.values())) == len(TEMPLATES) == len(FILES) + 2 * len(JOBS)
