# Annotation of every split with trees and tags, one job per shard; label vocabularies; selection of training pairs.
from nmtcore.planning.annotation import (
    annotator_memory,
    annotator_models,
    annotator_settings,
    language,
    selection_annotations,
    selection_file,
    selection_settings,
    shard_files,
)


rule annotate_shard:
    input:
        corpus=LAYOUT.pattern("pairs"),
        raw=LAYOUT.pattern("raw_pairs"),
        models=planned(annotator_models),
    output:
        temp(LAYOUT.pattern("annotation_shard")),
    log:
        LAYOUT.log("annotate_shard"),
    benchmark:
        LAYOUT.benchmark("annotate_shard")
    conda:
        "../../envs/annotation.yaml"
    resources:
        mem_mb=planned(annotator_memory),
        runtime=480,
    params:
        version=VERSIONS["annotation"],
        settings=planned(annotator_settings),
        language=planned(language),
    script:
        "../scripts/annotate_shard.py"


rule gather_annotation:
    input:
        corpus=LAYOUT.pattern("pairs"),
        shards=planned(shard_files),
    output:
        annotation=LAYOUT.pattern("annotation"),
        report=LAYOUT.pattern("annotation_report"),
    log:
        LAYOUT.log("gather_annotation"),
    benchmark:
        LAYOUT.benchmark("gather_annotation")
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        version=VERSIONS["annotation"],
    script:
        "../scripts/gather_annotation.py"


rule label_vocabularies:
    input:
        annotation=LAYOUT.pattern("annotation", split="train"),
        selection=planned(selection_file),
    output:
        LAYOUT.pattern("labels"),
    log:
        LAYOUT.log("label_vocabularies"),
    benchmark:
        LAYOUT.benchmark("label_vocabularies")
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        version=VERSIONS["annotation"],
    script:
        "../scripts/label_vocabularies.py"


rule linearise:
    input:
        corpus=LAYOUT.pattern("pairs"),
        annotation=LAYOUT.pattern("annotation"),
    output:
        LAYOUT.pattern("brackets"),
    log:
        LAYOUT.log("linearise"),
    benchmark:
        LAYOUT.benchmark("linearise")
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        version=VERSIONS["annotation"],
    script:
        "../scripts/linearise.py"


rule select_pairs:
    input:
        corpus=LAYOUT.pattern("pairs", split="train"),
        annotations=planned(selection_annotations),
    output:
        selection=LAYOUT.pattern("selection"),
        report=LAYOUT.pattern("selection_report"),
    log:
        LAYOUT.log("select_pairs"),
    benchmark:
        LAYOUT.benchmark("select_pairs")
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        version=VERSIONS["annotation"],
        selection=planned(selection_settings),
    script:
        "../scripts/select_pairs.py"


rule compare_annotations:
    input:
        corpus=LAYOUT.pattern("pairs"),
        first=LAYOUT.pattern("annotation"),
        second=LAYOUT.pattern("annotation", annotator="{other}"),
    output:
        LAYOUT.pattern("comparison"),
    log:
        LAYOUT.log("compare_annotations"),
    benchmark:
        LAYOUT.benchmark("compare_annotations")
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        version=VERSIONS["evaluation"],
    script:
        "../scripts/compare_annotations.py"
