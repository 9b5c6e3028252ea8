"""Where planning and jobs look for parsers' models."""

import pytest
from planted_models import plant_model
from workflow.calling import little, write_little

ANNOTATION = "results/parsed/annotation/parser/dev.source.parquet"


def parsed(place, **annotator):
    write_little(place)
    parts = {"annotators": {"parser": annotator}, "syntax": {"source": {"dependencies": "parser"}}}
    place.write("datasets/parsed", little(**parts))


def test_a_folder_of_the_working_directory_is_no_model(empty):
    """Else what lies there would be Java's class path."""
    plant_model(empty.folder / "corenlp", "corenlp")
    parsed(empty, tool="corenlp")
    plan = empty.plan(ANNOTATION)
    assert "downloads/models/corenlp/" in plan.output
    plan = empty.plan(ANNOTATION, settings=[f'models=["{empty.folder}"]'])
    assert "downloads/models/corenlp/" not in plan.output


@pytest.mark.parametrize("name", ["./corenlp", "../corenlp", "/models/corenlp"])
def test_a_path_is_no_models_name(empty, name):
    parsed(empty, tool="corenlp", model=name)
    plan = empty.call("-n", ANNOTATION)
    assert plan.code == 1
    assert (
        f"annotators.parser: corenlp: a model is a plain name (letters, digits, '.', '_' and '-'), not '{name}': add"
        in plan.output
    )
    assert "Traceback" not in plan.output
