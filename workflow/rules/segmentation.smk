# Words into subwords.


rule learn_segmentation:
    input:
        f"{DATA}/corpus/train.parquet",
    output:
        directory(f"{DATA}/segmentation/{{segmentation}}"),
    params:
        version=VERSIONS["segmentation"],
    log:
        f"{LOGS}/{{dataset}}/segmentation/{{segmentation}}.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/segmentation/{{segmentation}}.tsv"
    resources:
        mem_mb=4000,
        runtime=480,
    conda:
        "../../envs/core.yaml"
    script:
        "../scripts/learn_segmentation.py"
