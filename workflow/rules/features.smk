# Features for the models: subwords, and features of annotations.
from nmtcore.planning.training import (
    labels_of_features,
    segmentation_folder,
    used_annotations,
)


rule extract_tokens:
    input:
        words=LAYOUT.pattern("pairs"),
        selection=planned(selection_file),
        segmentation=planned(segmentation_folder),
    output:
        LAYOUT.pattern("tokens"),
    resources:
        **READING,
    script:
        "../scripts/extract_subwords.py"


rule extract_linearised:
    input:
        words=LAYOUT.pattern("brackets", side="source"),
        selection=planned(selection_file),
        segmentation=planned(segmentation_folder),
    output:
        LAYOUT.pattern("linearised"),
    resources:
        **READING,
    script:
        "../scripts/extract_subwords.py"


rule extract_syntax:
    input:
        annotation=LAYOUT.pattern("annotation"),
        selection=planned(selection_file),
        labels=planned(labels_of_features),
        tokens=LAYOUT.pattern("tokens"),
    output:
        LAYOUT.pattern("syntax"),
    resources:
        **READING,
    params:
        annotation_names=planned(used_annotations),
    script:
        "../scripts/extract_syntax.py"


rule extract_column:
    input:
        annotation=LAYOUT.pattern("annotation"),
        selection=planned(selection_file),
        labels=LAYOUT.pattern("column_labels"),
        tokens=LAYOUT.pattern("tokens"),
    output:
        LAYOUT.pattern("column"),
    resources:
        **READING,
    script:
        "../scripts/extract_syntax.py"
