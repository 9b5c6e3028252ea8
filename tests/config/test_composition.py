"""Composition of systems: components are merged by name, and the definition nearest to the system wins."""

import pytest

from nmtcore.config.components import COMPONENTS, RESERVED_NAMES
from nmtcore.config.files import Layer, Merged
from nmtcore.config.runs import run_from_json, run_to_json
from nmtcore.config.systems import SystemSettings, check_levels, system_layers
from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.inference.attention import AttentionMaps
from nmtcore.model.components.base import LanguageCode
from nmtcore.model.losses import TRANSLATION


def levels(*entries: dict) -> list[Layer]:
    """The levels of a lineage, the oldest first."""
    return [Layer(f"f.yaml: s{i}", keys, f"s{i}") for i, keys in enumerate(entries)]


def compose_system(line: list[Layer], datasets: tuple[str, ...] = ()) -> SystemSettings:
    return build(SystemSettings, Merged(system_layers(line, datasets)).values, where="f.yaml")


def named(**components) -> dict:
    return {"components": components}


def fault(*entries: dict) -> str:
    with pytest.raises(UserError) as error:
        check_levels(levels(*entries))
    return str(error.value)


def test_ancestors_components_come_first_and_are_merged():
    composed = compose_system(
        levels(named(tree_distance={"maximum": 5}, pascal={"heads": 1}), named(label_head={}, pascal={"layers": [1]}))
    )
    assert list(composed.components.items()) == [
        ("tree_distance", {"maximum": 5}),
        ("pascal", {"heads": 1, "layers": [1]}),
        ("label_head", {}),
    ]


def test_null_drops_a_component_and_a_descendant_may_append_it_again():
    line = levels(named(pascal={"heads": 3}, sisa={}), named(pascal=None), named(pascal={"heads": 1}))
    check_levels(line)
    assert compose_system(line[:2]).components == {"sisa": {}}
    assert list(compose_system(line).components.items()) == [("sisa", {}), ("pascal", {"heads": 1})]


def test_per_dataset_overrides_the_values_of_its_own_level():
    """Three generations of systems, on a data set `twin` that extends `demo`."""
    old, middle = {"demo": named(pascal={"heads": 2, "variance": 2.0})}, {"twin": named(pascal={"heads": 4})}
    line = levels(
        {**named(pascal={"heads": 1, "ignoring": 0.1, "variance": 1.0}), "per_dataset": old},
        {**named(pascal={"heads": 3}), "per_dataset": {**middle, "demo": named(pascal={"ignoring": 0.9})}},
        named(pascal={"layers": [1]}),
    )
    check_levels(line)

    def pascal(level, *datasets):
        return tuple(
            compose_system(line[: level + 1], datasets).components["pascal"].get(k) for k in ("heads", "ignoring")
        )

    assert (pascal(0), pascal(0, "demo"), pascal(0, "twin", "demo")) == ((1, 0.1), (2, 0.1), (2, 0.1))
    assert (pascal(1), pascal(1, "demo"), pascal(1, "twin", "demo")) == ((3, 0.1), (3, 0.9), (4, 0.1))
    assert pascal(2, "twin", "demo") == (4, 0.1)
    assert compose_system(line, ("twin", "demo")).components["pascal"]["variance"] == 2.0


def test_everything_but_the_description_is_inherited():
    line = levels({"description": "old", "start_from": "x", "segmentation": {"also": "constituency"}}, {})
    assert compose_system(line).description == ""
    assert (compose_system(line).start_from, compose_system(line).segmentation) == ("x", {"also": "constituency"})


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ([{"components": [{"name": "sisa"}]}], "f.yaml: s0: components: expected keys and values, found [{'name':"),
        ([named(sisa=2)], "f.yaml: s0: components: sisa: expected keys and values, found 2."),
        ([named(sisa=None)], "f.yaml: s0: components: sisa: null drops a component of a system that this one extends"),
        ([named(sisa={}), named(sisaa=None)], "but none of them has it. Did you mean sisa?"),
        ([{"components": {"My Head": {"kind": "sisa"}}}], "a component cannot be called 'My Head'"),
        ([named(translation={"kind": "sisa"})], "and avoid translation, language_code, attention_maps"),
        ([named(sisa={}), {"per_dataset": {"demo": named(siza={})}}], "unknown component 'siza'. Did you mean sisa?"),
        ([{**named(sisa={}), "per_dataset": {"demo": named(sisa=None)}}], "demo: components: sisa: expected keys and"),
        ([named(sisa={}), {**named(sisa=None), "per_dataset": {"demo": named(sisa={})}}], "unknown component 'sisa'"),
    ],
)
def test_entries_of_the_wrong_shape_are_errors(entries, sentence):
    assert sentence in fault(*entries)


def test_a_circular_extends_is_an_error(own_project):
    entries = {name: {"extends": parent} for name, parent in (("a", "b"), ("b", "c"), ("c", "b"))}
    with pytest.raises(UserError, match=r"mine\.yaml: a extends b extends c extends b: this is circular"):
        own_project({"systems/mine": entries}).system("a")


def test_the_changes_for_the_nearest_data_set_count(own_project):
    twins = {"datasets/twin": {"extends": "demo_en2de"}, "datasets/twin_of_twin": {"extends": "twin"}}
    changes = {name: {"model": {"dropout": value}} for name, value in (("demo_en2de", 0.3), ("twin", 0.4))}
    systems = {"own": {"extends": "transformer_base", "per_dataset": changes}}
    project = own_project(twins | {"systems/mine": systems})
    assert [project.run(name, "own", "paper", 1).model.dropout for name in ("demo_en2de", "twin_of_twin")] == [0.3, 0.4]


def test_a_second_component_of_one_kind_needs_its_own_name(own_project):
    systems = {
        "two": {"extends": "pascal", "components": {"upper": {"kind": "pascal", "heads": 2, "layers": [3]}}},
        "lone": {"extends": "two", "components": {"pascal": None, "sisa": {"layer": 1}}},
    }
    project = own_project({"systems/mine": systems})
    two, lone = (project.run("demo_en2de", name, "smoke", 1).components for name in ("two", "lone"))
    assert [(name, c.heads, c.layers) for name, c in two.items()] == [("pascal", 7, (0,)), ("upper", 2, (3,))]
    assert list(lone) == ["upper", "sisa"]


def test_the_order_of_components_survives_json(own_project):
    upper = {"kind": "pascal", "heads": 2, "layers": [3]}
    components = {"upper": upper, "pascal": {"heads": 1}, "label_head": {"layer": 1}}
    systems = {"x": {"extends": "transformer_base", "components": components}}
    run = own_project({"systems/mine": systems}).run("demo_en2de", "x", "smoke", 1)
    values = run_to_json(run)
    assert values["components"]["upper"]["kind"] == values["components"]["pascal"]["kind"] == "pascal"
    back = run_from_json(values, where="test")
    assert list(back.components.items()) == list(run.components.items())
    assert list(back.components) == list(components)


def test_a_start_needs_the_same_components(own_project):
    start = {"depparse": {"layer": 1}, "upper": {"kind": "diagonalparse", "layer": 2}}
    renamed = {"upper": None, "diagonalparse": {"layer": 2}}
    systems = {
        "start": {"extends": "transformer_base", "components": start},
        "same": {"extends": "start", "start_from": "start", "components": {"upper": {"weight": 0.5}}},
        "swapped": {"extends": "transformer_base", "start_from": "start", "components": dict(reversed(start.items()))},
        "renamed": {"extends": "start", "start_from": "start", "components": renamed},
    }
    project = own_project({"systems/mine": systems})
    assert project.run("demo_en2de", "same", "smoke", 1).components["upper"].weight == 0.5
    for name in ("swapped", "renamed"):
        with pytest.raises(UserError, match="start_from: start has other weights or vocabularies"):
            project.run("demo_en2de", name, "smoke", 1)


def test_a_start_may_lack_what_can_begin_without_changing_it(own_project):
    added, labels = {"extends": "transformer_base", "start_from": "transformer_base"}, {"replaces_positions": False}
    both = {"parser": {"kind": "depparse", "layer": 1, "root": "itself"}, "tree_traversal": labels}
    systems = {
        "both": {**added, "components": both},
        "more": {"extends": "both", "start_from": "both", "components": {"diagonalparse": {"layer": 0}}},
        "symbol": {**added, "components": {"parser": {**both["parser"], "root": "symbol"}}},
        "instead": {**added, "components": {"tree_traversal": {}}},
        "scaled": {**added, "components": {"pascal": {"heads": 1}}},
    }
    project = own_project({"systems/mine": systems})
    assert [len(project.run("demo_en2de", name, "smoke", 1).components) for name in ("both", "more")] == [2, 3]
    for name, component in (("symbol", "parser"), ("instead", "tree_traversal"), ("scaled", "pascal")):
        sentence = (
            f"start_from: transformer_base has other weights .*; {component} is not neutral at first, so it cannot"
        )
        with pytest.raises(UserError, match=sentence):
            project.run("demo_en2de", name, "smoke", 1)


def test_a_start_may_lack_factors_that_are_added(own_project):
    added = {"extends": "transformer_base", "start_from": "transformer_base"}
    factors = {combine: {"columns": {"existing/lemma": 4}, "combine": combine} for combine in ("add", "concatenate")}
    systems = {combine: {**added, "components": {"factors": values}} for combine, values in factors.items()}
    systems["foreign"] = {"extends": "add", "components": {"factors": {"columns": {"tagger/lemma": 4}}}}
    project = own_project({"systems/mine": systems})
    assert project.run("demo_en2de", "add", "smoke", 1).features["source"] == {"existing/lemma": "existing"}
    with pytest.raises(UserError, match="start_from: transformer_base has other weights"):
        project.run("demo_en2de", "concatenate", "smoke", 1)
    with pytest.raises(
        UserError, match=r"reads tagger/lemma .*, but the annotators of demo_en2de are only existing: add"
    ):
        project.run("demo_en2de", "foreign", "smoke", 1)


def test_no_component_has_the_name_of_a_loss_or_an_observer():
    assert {TRANSLATION, LanguageCode(9).name, AttentionMaps().name, "encoder", "cross"} == set(RESERVED_NAMES)
    assert not set(RESERVED_NAMES) & set(COMPONENTS)
