"""Mistakes in files of the configuration: each is a sentence that names the file, the place and what is valid."""

import re
from pathlib import Path

import pytest
import yaml

from nmtcore.config.project import Project
from nmtcore.errors import UserError

LAYERS = ("recipes/small", "scales/smoke")
PER_BASE = [
    ("{recurrent: {model: {heads: 4}}}", ": recurrent: model: unknown key 'heads'. Valid are: dropout, layers, width."),
    ("{recurent: {model: {width: 4}}}", ": unknown key 'recurent'. Did you mean recurrent?"),
    ("{recurrent: null}", ": recurrent: expected keys and values, found nothing."),
    ("[recurrent]", ": expected keys and values, found ['recurrent']."),
]


def refusal(root: Path, folder: Path, file: str, values: dict, system: str = "depparse_l1") -> str:
    """Return the error about a file of the user's own, which has `values` and else the shipped ones; it names it."""
    path, shipped = folder / f"{file}.yaml", root / "config" / f"{file}.yaml"
    path.parent.mkdir(exist_ok=True)
    values = {**(yaml.safe_load(shipped.read_text()) if shipped.exists() else {}), **values}
    path.write_text(yaml.safe_dump(values, sort_keys=False))
    with pytest.raises(UserError) as error:
        Project([folder, root / "config"], {}).run("demo_en2de", system, "smoke", 1)
    message, count = re.subn(rf"{re.escape(str(path))}(:\d+)?(?=: )", file, str(error.value))
    assert count > 0
    return message


HERE = "mine on demo_en2de at scale smoke: "
OTHER = "transformer, but the system's is recurrent"
TAGS = "{kind: interleave, side: source, tags: dg_a_tags}"
OF_TARGET = "{kind: interleave, side: target, tags: dg_a_tags}"
TASK = "extends: transformer_base, segmentation: {also: constituency}"
SYSTEMS = [
    # components and the heads that they claim
    ("extends: pascal, components: {upper: {kind: pascal, heads: 1}}", "pascal and upper both claim encoder.0.head.0"),
    ("extends: pascal, components: {upper: {kind: pascall}}", "unknown component 'pascall'. Did you mean pascal?"),
    ("extends: pascal, components: {upper: {kind: pascal}}", "components: upper: the key 'heads' is missing"),
    ("extends: nmt, components: {upper: {heads: 2}}", "An entry with another name needs the key `kind`"),
    ("extends: depparse_l1, components: {diagonalparse: {layer: 1}}", "both claim encoder.1.head.7; only one can"),
    ("extends: depparse_l0, components: {low: {kind: depparse, layer: 1}}", "both claim source.prefix (where <ROOT> "),
    ("extends: depparse_l1, components: {depparse: {layer: 6}}", "layer 6 is not in an encoder of 6 layers, which"),
    ("extends: depparse_l1, components: {depparse: {head: 8}}", "head 8 is not among 8 heads, which count from 0"),
    ("extends: pascal, components: {pascal: {heads: 9}}", "pascal: 9 heads are more than the 8 of a layer"),
    # the base
    ("extends: nmt, components: {tree_head: {}}", f"{HERE}tree_head needs the base {OTHER}."),
    ("extends: depparse_l1, base: recurrent", f"{HERE}depparse needs the base {OTHER}."),
    ("extends: pascal, components: {head_selection: {}}", "head_selection needs the base recurrent, but the system's "),
    ("extends: nmt, start_from: transformer_base", "start_from: transformer_base has the base 'transformer', not 'rec"),
    ("extends: nmt, model: {heads: 4}", f"{HERE}model: 'heads' is a setting of the base {OTHER}, whose settings are d"),
    ("extends: nmt, per_dataset: {demo_en2de: {model: {norm: pre}}}", "model: 'norm' is a setting of the base trans"),
    ("extends: transformer_base, model: {layers: 4}", "model: 'layers' is a setting of the base recurrent, but"),
    # trees
    ("extends: depparse_l1, trees: chain", "depparse cannot be 'chain', only supervised or induced"),
    ("extends: diagonalparse_l0, trees: supervised", "cannot be 'supervised', only chain."),
    ("extends: pascal, trees: induced", "no component of the system predicts trees: write `trees: null`"),
    ("extends: depparse_l1, trees: gold", "trees: 'gold' is not valid"),
    ("extends: nmt, treebank: {}", "no component of the system learns to parse"),
    ("extends: diagonalparse_l0, treebank: {}", "no component of the system learns to parse"),
    # numbers outside their ranges
    ("training: {schedule: {peak: -1}}", "mine: training: schedule: peak must be above 0, not -1."),
    ("training: {betas: [0.9, 1.0]}", "mine: training: betas[1] must be below 1, not 1.0."),
    ("decoding: {beam: 1000000}", "mine: decoding: beam must be at most 1000, not 1000000."),
    ("model: {encoder_layers: 100000}", "mine: model: encoder_layers must be at most 1000, not 100000."),
    ("per_dataset: {demo_en2de: {model: {dropout: 1}}}", "mine: per_dataset: demo_en2de: model: dropout must be below"),
    ("extends: pascal, components: {pascal: {variance: 0}}", "mine: components: pascal: variance must be above 0, not"),
    # transforms
    (f"{TASK}, transforms: {{sisa: {{}}}}", "unknown transform 'sisa'. Valid are: interleave, parsing_task."),
    (f"{TASK}, transforms: {{A b.c: {{kind: parsing_task}}}}", "a transform cannot be called 'A b.c'"),
    (f"{TASK}, transforms: {{3: {{kind: parsing_task}}}}", "a transform cannot be called '3'"),
    (f"{TASK}, transforms: [parsing_task]", "transforms: expected keys and values, found ['parsing_task']."),
    (f"{TASK}, transforms: {{parsing_task: null}}", "null drops a transform of a system"),
    (f"{TASK}, transforms: {{parsing_task: {{}}, two: {{kind: parsing_task}}}}", "two must be the"),
    (f"{TASK}, transforms: {{parsing_task: {{}}, two: {TAGS}}}", "parsing_task cannot be combined with two, which"),
    (f"{TASK}, transforms: {{one: {OF_TARGET}, parsing_task: {{}}}}", "transform parsing_task must be the first"),
    ("extends: currey_heafield, segmentation: {also: null}", "parsing_task needs subwords that are also learned from"),
    ("extends: currey_heafield, components: {sisa: {}}", "transform parsing_task cannot be combined with sisa"),
    ("extends: currey_heafield, start_from: transformer_base", "which do not fit (transforms.parsing_task"),
    ("extends: source_dg_a, transforms: {two: {kind: interleave, side: source}}", "two: the key 'tags' is missing"),
    ("extends: source_dg_a, components: {diagonalparse: {layer: 0}}", "interleave cannot be combined with diagonalp"),
    ("extends: source_dg_a, components: {pascal: {heads: 1}}", "the transform interleave cannot be combined with pasc"),
    (f"extends: source_dg_a, transforms: {{two: {TAGS}}}", "the transform interleave cannot be combined with two, whi"),
]


@pytest.mark.parametrize(("entry", "sentence"), SYSTEMS)
def test_mistakes_in_a_system(root, tmp_path, entry, sentence):
    values = {"extends": "transformer_base"} | yaml.safe_load(f"{{{entry}}}")
    assert sentence in refusal(root, tmp_path, "systems/mine", {"mine": values}, "mine")


DATASET = "datasets/demo_en2de"
FILES = [
    *((file, "training: {clip_norm: -1}", f"{file}: training: clip_norm must be above 0, not -1.") for file in LAYERS),
    *((file, f"per_base: {text}", f"{file}: per_base{fault}") for file in LAYERS for text, fault in PER_BASE),
    (DATASET, "extends: demo_en2de", "demo_en2de extends demo_en2de: this is circular"),
    (DATASET, "main_test: tset", "main_test 'tset'"),
    (DATASET, "splits: {train: train}", "lacks 'dev'"),
    (DATASET, "splits: {train: x, dev: dev, test: test}", "no corpus 'x'"),
    (DATASET, "filters: [lenght]", "Did you mean length?"),
    (DATASET, "annotators: {existing: {tool: exist}}", "Did you mean existing?"),
    (DATASET, "syntax: {}, annotators: {selection: {tool: existing}}", "an annotator cannot be called 'selection'"),
    (DATASET, "recipe: smal", "Did you mean small?"),
    (DATASET, "syntax: {source: {dependencies: stanza}}", "no annotator 'stanza'"),
    (DATASET, "syntax: {source: {dependences: existing}}", "Did you mean dependencies?"),
    (DATASET, "selection: {parsed: {target: [ccg]}}", "syntax.target names no annotator for ccg"),
    (DATASET, "selection: {copies: {corpus: dev}}", "'dev' is not a corpus of the training split"),
    (DATASET, "selection: {copies: {corpus: train}}", "'train' does not have the format copied"),
    (DATASET, "segmentation_from: demo_en2d", "Did you mean demo_en2de, "),
]


@pytest.mark.parametrize(("file", "text", "sentence"), FILES)
def test_mistakes_in_other_files(root, tmp_path, file, text, sentence):
    system = "nmt" if "per_base" in text else "depparse_l1"
    assert sentence in refusal(root, tmp_path, file, yaml.safe_load(f"{{{text}}}"), system)


LONG = "n" * 70_000


@pytest.mark.parametrize(
    ("file", "values"),
    [
        (DATASET, {"splits": {"train": f"{LONG} {LONG}", "dev": "dev", "test": "test"}}),
        (DATASET, {"main_test": LONG}),
        (DATASET, {"corpora": {"train": {"format": LONG}}}),
        ("systems/pham2018", {"depparse_l1": {"extends": "transformer_base", "components": {LONG: {}}}}),
    ],
)
def test_a_value_of_any_length_is_shown_in_part(root, tmp_path, file, values):
    message = refusal(root, tmp_path, file, values)
    assert f"{'n' * 60}" in message
    assert len(message) < 1000


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("{scale: smokey}", "config.yaml: unknown scale 'smokey'. Did you mean smoke?"),
        ("{seeds: []}", "seeds must be a list of different numbers, at least one"),
        ("{systems: [depprase*]}", "config.yaml: systems: unknown system 'depprase*'"),
        ("{datasets: [rehaersal_*]}", "config.yaml: datasets: unknown data set 'rehaersal_*'"),
        ("{stand_ins: demos}", "config.yaml: stand_ins: unknown choice of stand-ins 'demos'. Did you mean demo?"),
        ("{paths: {results: ./}}", "paths: results cannot be the working directory itself: name a folder"),
        ("{paths: {downloads: ''}}", "an empty string is not a folder (the working directory is '.')"),
        ("{models: [mine, ' ']}", "an empty string is not a folder (the working directory is '.')"),
        ("{device: gpu:0}", "device: 'gpu:0' is not valid. Did you mean cuda?"),
    ],
)
def test_mistakes_in_config_yaml(root, settings, sentence):
    with pytest.raises(UserError, match=re.escape(sentence)):
        Project([root / "config"], yaml.safe_load(settings))
