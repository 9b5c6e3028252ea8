# The corpus stage: download files, read splits, filter sentence pairs and list contrastive ones.
from nmtcore.planning.corpus import (
    filter_threads,
    held_out_splits,
    raw_files,
    tracked_filtering,
    tracked_reading,
)
from nmtcore.planning.downloads import tracked_download


rule download:
    output:
        file=LAYOUT.pattern("download"),
        record=LAYOUT.pattern("download_record"),
    log:
        LAYOUT.log("download"),
    benchmark:
        LAYOUT.benchmark("download")
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=1000,
        runtime=240,
    params:
        version=VERSIONS["download"],
        file=planned(tracked_download),
    script:
        "../scripts/download.py"


rule read_split:
    input:
        planned(raw_files),
    output:
        pairs=LAYOUT.pattern("raw_pairs"),
        report=LAYOUT.pattern("raw_report"),
    log:
        LAYOUT.log("read_split"),
    benchmark:
        LAYOUT.benchmark("read_split")
    conda:
        "../../envs/core.yaml"
    threads: 2
    resources:
        mem_mb=2000,
        runtime=240,
    params:
        version=VERSIONS["corpus"],
        settings=planned(tracked_reading),
    script:
        "../scripts/read_split.py"


rule list_contrasts:
    input:
        planned(raw_files),
    output:
        LAYOUT.pattern("contrasts"),
    log:
        LAYOUT.log("list_contrasts"),
    benchmark:
        LAYOUT.benchmark("list_contrasts")
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        version=VERSIONS["corpus"],
        settings=planned(tracked_reading),
    script:
        "../scripts/list_contrasts.py"


rule filter_split:
    input:
        raw=LAYOUT.pattern("raw_pairs"),
        others=planned(held_out_splits),
    output:
        pairs=LAYOUT.pattern("pairs"),
        report=LAYOUT.pattern("pairs_report"),
    log:
        LAYOUT.log("filter_split"),
    benchmark:
        LAYOUT.benchmark("filter_split")
    conda:
        "../../envs/core.yaml"
    threads: planned(filter_threads)
    resources:
        mem_mb=lambda wildcards, threads: 1500 + 500 * threads,
        runtime=240,
    params:
        version=VERSIONS["corpus"],
        settings=planned(tracked_filtering),
    script:
        "../scripts/filter_split.py"
