# Trees and tags, a shard a job; and the labels that they use.
from nmtcore.config.annotators import annotator_entry


@explained
def annotator_of(wildcards):
    """The settings of the data set's annotator of this name."""
    annotators = dataset_of(wildcards).annotators
    if wildcards.annotator not in annotators:
        raise UserError(f"{wildcards.dataset} has no annotator '{wildcards.annotator}', only {', '.join(annotators)}.")
    return annotators[wildcards.annotator]


def shard_files(wildcards):
    """The shards of a split's annotation: the training split has as many as the annotator says, the others one."""
    shards = annotator_of(wildcards).shards if wildcards.split == "train" else 1
    name = f"{DATA}/annotation/{{annotator}}/shards/{{split}}.{{side}}".format(**wildcards)
    return [f"{name}.{shard}-of-{shards}.parquet" for shard in range(shards)]


rule annotate_shard:
    input:
        corpus=f"{DATA}/corpus/{{split}}.parquet",
        raw=f"{DATA}/corpus/raw/{{split}}.parquet",
    output:
        temp(f"{DATA}/annotation/{{annotator}}/shards/{{split}}.{{side}}.{{shard}}-of-{{shards}}.parquet"),
    params:
        version=VERSIONS["annotation"],
        settings=lambda wildcards: annotator_entry(annotator_of(wildcards)),
        language=lambda wildcards: dataset_of(wildcards).language(wildcards.side),
    log:
        f"{LOGS}/{{dataset}}/annotation/{{annotator}}/{{split}}.{{side}}.{{shard}}-of-{{shards}}.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/annotation/{{annotator}}/{{split}}.{{side}}.{{shard}}-of-{{shards}}.tsv"
    resources:
        mem_mb=4000,
        runtime=480,
    conda:
        "../../envs/core.yaml"
    script:
        "../scripts/annotate_shard.py"


rule gather_annotation:
    input:
        corpus=f"{DATA}/corpus/{{split}}.parquet",
        shards=shard_files,
    output:
        annotation=f"{DATA}/annotation/{{annotator}}/{{split}}.{{side}}.parquet",
        report=f"{DATA}/annotation/{{annotator}}/{{split}}.{{side}}.json",
    params:
        version=VERSIONS["annotation"],
    log:
        f"{LOGS}/{{dataset}}/annotation/{{annotator}}/{{split}}.{{side}}.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/annotation/{{annotator}}/{{split}}.{{side}}.tsv"
    resources:
        mem_mb=2000,
        runtime=60,
    conda:
        "../../envs/core.yaml"
    script:
        "../scripts/gather_annotation.py"


rule label_vocabularies:
    input:
        f"{DATA}/annotation/{{annotator}}/train.{{side}}.parquet",
    output:
        f"{DATA}/annotation/{{annotator}}/{{side}}.labels.json",
    params:
        version=VERSIONS["annotation"],
    log:
        f"{LOGS}/{{dataset}}/annotation/{{annotator}}/{{side}}.labels.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/annotation/{{annotator}}/{{side}}.labels.tsv"
    resources:
        mem_mb=2000,
        runtime=60,
    conda:
        "../../envs/core.yaml"
    script:
        "../scripts/label_vocabularies.py"
