"""Settings on the command line reach planning and jobs alike."""

import json

from workflow.calling import write_little


def test_jobs_use_every_key_on_the_command_line(empty):
    write_little(empty)
    quick = {"max_updates": 2, "checkpoint_every": 2, "validation": {"every": 2}, "schedule": {"warmup": 1}}
    changes = {"per_base": {"transformer": {"model": {"width": 16}}}, "training": quick}
    empty.write("scales/quick", {"description": "Two updates", **changes})
    empty.run(
        settings=[
            "scale=quick",
            "seeds=[1,2]",
            "datasets=[little]",
            "systems=transformer_base",
            "paths={results: out, downloads: fetched, manual: by_hand}",
            "models=[parsers]",
            "http_hosts=[localhost]",
            "gpus=1",
        ]
    )
    summary = json.loads((empty.folder / "out/quick/little/transformer_base.bleu").read_text())
    assert summary["seeds"] == [1, 2]
    assert (empty.folder / "fetched/little/train.en").is_file()
    assert not (empty.folder / "results").exists()
