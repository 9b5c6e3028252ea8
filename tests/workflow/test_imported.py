"""From a folder with a published model to a table: imported as it is, and trained further with and without syntax."""

import lzma

import pytest
import yaml
from conftest import skip_unless_ci
from publishing import publish_random

from nmtcore.files import read_json
from nmtcore.tables.query import read_frame

pytestmark = pytest.mark.needs("Snakemake")

SYSTEMS = ["imported", "imported_tuned", "imported_depparse"]
TABLE = "results/tables/strong_base_systems"


def demo_texts(root):
    for side in ("en", "de"):
        with lzma.open(root / f"data/demo/dev.{side}.conllu.xz", "rt", encoding="utf-8") as lines:
            yield from (line.removeprefix("# text = ").strip() for line in lines if line.startswith("# text = "))


def test_a_published_model_is_the_base_of_a_table(empty, root):
    try:
        publish_random(empty.folder / "manual/models/opus-mt-en-de", list(demo_texts(root)), size=400)
    except ModuleNotFoundError:
        skip_unless_ci("transformers or sentencepiece is not installed")
    lines = (root / "config/tables/strong_base.yaml").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("      - ") or line.split()[-1] in SYSTEMS]
    text = "\n".join(kept).replace("multi30k_", "demo_").replace(", imported_chain", "")
    empty.write("tables/strong_base", yaml.safe_load(text))
    empty.run(f"{TABLE}.md", "results/smoke/demo_en2de/imported_depparse.uas", settings=["scale=smoke"])

    rows = [row for row in read_frame(empty.folder / f"{TABLE}.parquet").rows if row["measure"] == "bleu"]
    assert {row["row"] for row in rows if row["baseline"] == "imported_tuned"} == {"imported", "imported_depparse"}
    assert all(row["values"] for row in rows)
    manifest = read_json(empty.folder / "results/smoke/demo_en2de/imported_depparse/seed1/manifest.json")
    assert {row["name"] for row in manifest["data"]["files"] if row["kind"] == "model"} == {"opus-mt-en-de"}
