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
    conda:
        "../../envs/annotation.yaml"
    resources:
        mem_mb=planned(annotator_memory),
        runtime=480,
    params:
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
    resources:
        **SMALL,
    script:
        "../scripts/gather_annotation.py"


rule label_vocabularies:
    input:
        annotation=LAYOUT.pattern("annotation", split="train"),
        selection=planned(selection_file),
    output:
        LAYOUT.pattern("labels"),
    resources:
        **SMALL,
    script:
        "../scripts/label_vocabularies.py"


rule column_labels:
    input:
        annotation=LAYOUT.pattern("annotation", split="train"),
        selection=planned(selection_file),
    output:
        LAYOUT.pattern("column_labels"),
    resources:
        **SMALL,
    script:
        "../scripts/column_labels.py"


rule linearise:
    input:
        corpus=LAYOUT.pattern("pairs"),
        annotation=LAYOUT.pattern("annotation"),
    output:
        LAYOUT.pattern("brackets"),
    resources:
        **SMALL,
    script:
        "../scripts/linearise.py"


rule select_pairs:
    input:
        corpus=LAYOUT.pattern("pairs", split="train"),
        annotations=planned(selection_annotations),
    output:
        selection=LAYOUT.pattern("selection"),
        report=LAYOUT.pattern("selection_report"),
    resources:
        **SMALL,
    params:
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
    resources:
        **SMALL,
    params:
        version=VERSIONS["evaluation"],
    script:
        "../scripts/compare_annotations.py"
