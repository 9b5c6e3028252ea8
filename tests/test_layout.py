"""Paths of results and downloads: built, parsed, matched by the workflow's wildcards."""

import os
import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from nmtcore.layout import (
    NAME,
    RESERVED,
    SCORES,
    STAGES,
    TEMPLATES,
    Layout,
    ParsedPath,
)

SCALES = ("smoke", "small")
PAPERS = ("cho2014", "cho2014_again")
LAYOUTS = (
    Layout(scales=SCALES, papers=PAPERS),
    Layout(papers=PAPERS),
    Layout(results="/data/my.results/", downloads="/data/raw", scales=SCALES, papers=PAPERS),
    Layout(results="./out//runs/", downloads="./raw", scales=SCALES, papers=PAPERS),
)

WORDS = ("a", "b2", "seed1", "train", "raw", "bpe", "selection", "shards", "of", "1", *SCALES, *STAGES, *RESERVED)
names = st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map("_".join).filter(re.compile(NAME).fullmatch)
numbers = st.integers(0, 99).map(str)
VALUES = {
    "dataset": names.filter(lambda name: name not in (*RESERVED, *SCALES)),
    "system": names.filter(lambda name: name not in STAGES),
    "split": names,
    "side": st.sampled_from(["source", "target"]),
    "annotator": names.filter(lambda name: name != "selection"),
    "other": names,
    "segmentation": st.sampled_from(["bpe_joint_2000", "bpe_16000", "words_50000", "sentencepiece_joint_7"]),
    "metric": names,
    "column": st.sampled_from(["lemma", "feats.Number", "feats.Number[psor]"]),
    "seed": numbers,
    "shard": numbers,
    "shards": numbers,
    "score": st.sampled_from(SCORES),
    "folder": st.one_of(st.just(""), names.map(lambda name: f"{name}/")),
    "paper": st.sampled_from(PAPERS),
    "table": st.sampled_from([f"{paper}_table_{number}" for paper in PAPERS for number in ("1", "b_2")]),
    "file": st.from_regex(r"[a-z]+(/[a-z.]+){0,2}\.gz", fullmatch=True),
    "scale": st.sampled_from(["paper", *SCALES]),
}


def names_of(file_type):
    """The names in the paths of a file type, with a scale in place of the root."""
    names = {"scale" if name == "root" else name for name in re.findall(r"\{(\w+)\}", TEMPLATES[file_type])}
    return sorted(names - {"results", "downloads"})


def values_of(file_type):
    """The values of names; lists of contrastive pairs are of splits that are called contrast_..."""
    is_contrastive = file_type.startswith("list_contrasts")
    own = {"split": names.map(lambda name: f"contrast_{name}")} if is_contrastive else {}
    return {name: (VALUES | own)[name] for name in names_of(file_type)}


parsed_paths = st.sampled_from(sorted(TEMPLATES)).flatmap(
    lambda file_type: st.fixed_dictionaries(values_of(file_type)).map(lambda names: ParsedPath(file_type, names))
)


@settings(max_examples=100)
@given(st.sampled_from(LAYOUTS), parsed_paths)
def test_parse_is_the_inverse_of_path_which_matches_only_the_pattern_of_its_type(layout, parsed):
    path = layout.path(parsed.file_type, **parsed.names)
    assert layout.parse(path) == parsed
    assert layout.names(path, parsed.file_type) == parsed.names
    matching = {file_type for file_type in TEMPLATES if re.fullmatch(as_expression(layout, file_type), path)}
    assert matching == {parsed.file_type}


def as_expression(layout, file_type):
    """The regular expression that Snakemake makes of a pattern."""
    texts = re.split(r"\{(\w+)\}", layout.pattern(file_type))
    wildcards = [f"(?P<{name}>{layout.constraints[name]})" for name in texts[1::2]]
    rest = [name + re.escape(text) for name, text in zip(wildcards, texts[2::2], strict=True)]
    return "".join([re.escape(texts[0]), *rest])


def test_paths_that_match_no_template_are_not_parsed():
    for path in (
        *("demo/corpus/raw/train.txt", "demo/corpus/Train.parquet", "demo/annotation/selection/dev.parquet"),
        *("demo/corpus/seed1/model", "smoke/corpus/train.parquet", "tables/parser/seed1/model"),
        *("paper/demo/transformer_base.bleu", "elsewhere/demo/transformer_base.bleu", "demo/transformer_base.blue"),
        *("../other/demo/transformer_base.bleu", ""),
    ):
        assert Layout(scales=SCALES).parse(os.path.normpath(f"results/{path}")) is None, path


def test_the_scale_is_in_the_root_and_folders_are_normalised():
    layout = Layout(results="./out//", downloads="raw/../downloads/", scales=SCALES)
    assert (layout.results, layout.downloads) == ("out", "downloads")
    assert layout.path("summary", scale="paper", dataset="d", system="s", score="uas") == "out/d/s.uas"
    assert layout.path("summary", scale="smoke", dataset="d", system="s", score="uas") == "out/smoke/d/s.uas"
    for scale in ("paper", *SCALES):
        assert layout.scale(layout.root(scale)) == scale


def test_existing_files_of_runs_at_all_scales(tmp_path):
    layout = Layout(results=tmp_path, scales=SCALES)
    names = {"dataset": "demo", "system": "s", "seed": 1}
    paths = [Path(layout.path("scores", **names, scale=scale)) for scale in ("paper", *SCALES)]
    for path in (*paths, tmp_path / "other/demo/s/seed1/scores.json", tmp_path / "demo/s/seedling/scores.json"):
        path.parent.mkdir(parents=True)
        path.touch()
    assert layout.existing("scores") == sorted(paths)
    assert Layout(results=tmp_path / "r[1]").existing("scores") == []
    assert layout.existing("scores", scale="small") == [path for path in paths if "small" in path.parts]
