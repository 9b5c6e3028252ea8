"""The folders in which planning and jobs search for parser models."""

import pytest
from planted_models import plant_model
from workflow.calling import little, write_little

ANNOTATION = "results/parsed/annotation/parser/dev.source.parquet"


def parsed(workplace, **annotator):
    write_little(workplace)
    parts = {"annotators": {"parser": annotator}, "syntax": {"source": {"dependencies": "parser"}}}
    workplace.write("datasets/parsed", little(**parts))


def test_the_working_directory_is_not_searched_for_models(empty):
    """Otherwise its files would be on Java's class path."""
    plant_model(empty.folder / "corenlp", "corenlp")
    parsed(empty, tool="corenlp")
    plan = empty.plan(ANNOTATION)
    assert "downloads/models/corenlp/" in plan.output
    plan = empty.plan(ANNOTATION, settings=[f'models=["{empty.folder}"]'])
    assert "downloads/models/corenlp/" not in plan.output


@pytest.mark.parametrize("name", ["./corenlp", "../corenlp", "/models/corenlp"])
def test_a_path_is_not_a_model_name(empty, name):
    parsed(empty, tool="corenlp", model=name)
    plan = empty.call("-n", ANNOTATION)
    assert plan.code == 1
    assert (
        f"annotators.parser: corenlp: a model is a plain name (letters, digits, '.', '_' and '-'), not '{name}': add"
        in plan.output
    )
    assert "Traceback" not in plan.output
