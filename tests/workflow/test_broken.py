"""A broken corpus gives an error message and no output files."""

import gzip

import pytest
from workflow.calling import little, make_workplace, write_little

pytestmark = pytest.mark.needs("Snakemake")


def write_dataset(workplace, name, content, **pinned):
    """A data set like `little` whose training source is another file; the file of the target is shared."""
    (workplace.mirror / f"{name}.en").write_bytes(content)
    settings = little()
    entry = {"name": f"{name}/train.en", "mirrors": [{"path": f"{name}.en", **pinned}]}
    settings["corpora"]["train"]["files"]["source"] = entry
    workplace.write(f"datasets/{name}", settings)


def test_each_broken_file_is_named_and_leaves_no_output(root, tmp_path):
    workplace = make_workplace(tmp_path, root / "Snakefile")
    write_little(workplace)
    valid = (workplace.mirror / "train.en").read_bytes()
    lines = valid.splitlines(keepends=True)
    broken = {
        "unequal": (b"".join(lines[:-1]), ("downloads/unequal/train.en", "149", "150")),
        "truncated": (gzip.compress(valid)[:-200], ("downloads/truncated/train.en",)),
        "forged": (valid, ("its sha256 is", "0" * 64)),
    }
    for name, (content, _) in broken.items():
        write_dataset(workplace, name, content, **({"sha256": "0" * 64} if name == "forged" else {}))
    targets = [f"results/{name}/corpus/train.parquet" for name in broken]
    stopped = workplace.call("--cores", "1", "--keep-going", *targets)
    assert stopped.code == 1, stopped.output
    for name, (_, parts) in broken.items():
        assert any(all(part in line for part in parts) for line in stopped.output.splitlines()), stopped.output
        assert not [path for path in (workplace.folder / f"results/{name}").rglob("*") if path.is_file()]
    assert "Traceback" not in stopped.output
    assert ".smk" not in stopped.output, "the message names none of our files"
    assert workplace.partial_files() == []
    assert not list((workplace.folder / "downloads").glob("forged/*"))
