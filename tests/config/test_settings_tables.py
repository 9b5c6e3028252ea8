"""The tables of config/README.md say what the settings classes say."""

import pytest
from full_disk import largest_file

from nmtcore.cli import main
from nmtcore.config.settings_tables import REGISTRIES, registry_table, settings_table, update_tables, with_tables
from nmtcore.config.training import DecodingSettings, TrainingSettings
from nmtcore.errors import UserError


def test_the_tables_in_the_readme_are_what_the_command_writes(root, tmp_path):
    text = (root / "config/README.md").read_text(encoding="utf-8")
    assert with_tables(text, where="README.md") == text, "run `nmtcore schema --readme config/README.md`"
    copy = tmp_path / "README.md"
    copy.write_text("before\n<!-- settings: DecodingSettings -->\nold\n<!-- end -->\nafter\n", encoding="utf-8")
    main(["schema", str(tmp_path), "--readme", str(copy)])
    table = settings_table(DecodingSettings)
    assert copy.read_text(encoding="utf-8") == (
        f"before\n<!-- settings: DecodingSettings -->\n\n{table}\n<!-- end -->\nafter\n"
    )


@pytest.mark.parametrize("name", REGISTRIES)
def test_all_that_a_registry_has_is_in_the_readme(root, name):
    text = (root / "config/README.md").read_text(encoding="utf-8")
    assert f"<!-- settings: {name} -->" in text
    table = registry_table(*REGISTRIES[name])
    assert all(f"| `{entry}` |" in table for entry in REGISTRIES[name][0])


def test_a_row_has_key_values_default_and_meaning():
    table = settings_table(TrainingSettings)
    assert "| `checkpoint_every` | integer ≥ 1 | `1000` | Updates between checkpoints. |\n" in table
    assert "| `schedule.stop_after` | integer ≥ 1, `null` | `null` | " in table
    assert "| `betas` | list of 2: number ≥ 0 and < 1 | `[0.9, 0.98]` | " in table


def test_bars_in_cells_are_escaped():
    assert r'(ASPEC: " \|\|\| ")' in registry_table(*REGISTRIES["FORMATS"])


def test_a_mark_that_names_nothing_is_a_mistake():
    with pytest.raises(UserError, match=r"README.md: no settings are called TrainigSettings\."):
        with_tables("<!-- settings: TrainigSettings -->\n<!-- end -->", where="README.md")


def test_without_space_the_file_stays_as_it_is(tmp_path):
    path, text = tmp_path / "README.md", "<!-- settings: DecodingSettings -->\nold\n<!-- end -->\n"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"README.md would exceed the largest file size"), largest_file(len(text)):
        update_tables(path)
    assert path.read_text(encoding="utf-8") == text
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_file_is_a_mistake(tmp_path):
    with pytest.raises(UserError, match=r"README.md does not exist\."):
        update_tables(tmp_path / "README.md")
