# The corpus stage: download files, read splits, filter sentence pairs and list contrastive ones.
from nmtcore.planning.corpus import (
    contrastive_files,
    download_settings,
    filter_threads,
    filtering_settings,
    held_out_splits,
    raw_files,
    reading_settings,
)


rule download:
    output:
        target=LAYOUT.pattern("download"),
        record=LAYOUT.pattern("download_record"),
    resources:
        mem_mb=1000,
        runtime=240,
    params:
        version=VERSIONS["download"],
        settings=planned(download_settings),
    script:
        "../scripts/download.py"


rule read_split:
    input:
        planned(raw_files),
    output:
        pairs=LAYOUT.pattern("raw_pairs"),
        report=LAYOUT.pattern("raw_report"),
    threads: 2
    resources:
        **READING,
    params:
        settings=planned(reading_settings),
    script:
        "../scripts/read_split.py"


rule count_in_train:
    input:
        train=LAYOUT.pattern("pairs", split="train"),
        pairs=LAYOUT.pattern("pairs"),
    output:
        LAYOUT.pattern("pairs_in_train"),
    resources:
        **SMALL,
    script:
        "../scripts/count_in_train.py"


rule list_contrasts:
    input:
        planned(contrastive_files),
    output:
        LAYOUT.pattern("contrasts"),
    resources:
        **SMALL,
    params:
        settings=planned(reading_settings),
    script:
        "../scripts/list_contrasts.py"


rule filter_split:
    input:
        raw=LAYOUT.pattern("raw_pairs"),
        other_raws=planned(held_out_splits),
    output:
        pairs=LAYOUT.pattern("pairs"),
        report=LAYOUT.pattern("pairs_report"),
    threads: planned(filter_threads)
    resources:
        mem_mb=lambda wildcards, threads: 1500 + 500 * threads,
        runtime=240,
    params:
        settings=planned(filtering_settings),
    script:
        "../scripts/filter_split.py"
