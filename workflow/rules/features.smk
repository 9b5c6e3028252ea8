# Features for the models: subwords, and features of annotations.
from nmtcore.planning.features import (
    labels_of_features,
    segmentation_folder,
    used_annotations,
)


rule extract_tokens:
    input:
        corpus=LAYOUT.pattern("pairs"),
        selection=planned(selection_file),
        segmentation=planned(segmentation_folder),
    output:
        LAYOUT.pattern("tokens"),
    log:
        LAYOUT.log("extract_tokens"),
    benchmark:
        LAYOUT.benchmark("extract_tokens")
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=240,
    params:
        version=VERSIONS["features"],
    script:
        "../scripts/extract_tokens.py"


rule extract_linearised:
    input:
        linearised_parses=LAYOUT.pattern("brackets", side="source"),
        selection=planned(selection_file),
        segmentation=planned(segmentation_folder),
    output:
        LAYOUT.pattern("linearised"),
    log:
        LAYOUT.log("extract_linearised"),
    benchmark:
        LAYOUT.benchmark("extract_linearised")
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=240,
    params:
        version=VERSIONS["features"],
    script:
        "../scripts/extract_linearised.py"


rule extract_syntax:
    input:
        annotation=LAYOUT.pattern("annotation"),
        selection=planned(selection_file),
        labels=planned(labels_of_features),
        tokens=LAYOUT.pattern("tokens"),
    output:
        LAYOUT.pattern("syntax"),
    log:
        LAYOUT.log("extract_syntax"),
    benchmark:
        LAYOUT.benchmark("extract_syntax")
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=240,
    params:
        version=VERSIONS["features"],
        annotation_names=planned(used_annotations),
    script:
        "../scripts/extract_syntax.py"
