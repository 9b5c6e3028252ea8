# Words into subwords.


rule learn_segmentation:
    input:
        corpus=f"{DATA}/corpus/train.parquet",
        selection=selection_file,
        truecasers=truecasers,
        brackets=brackets_file,
    output:
        directory(f"{DATA}/segmentation/{{segmentation}}"),
    log:
        f"{LOGS}/{{dataset}}/segmentation/{{segmentation}}.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/segmentation/{{segmentation}}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=4000,
        runtime=480,
    params:
        version=VERSIONS["segmentation"],
    script:
        "../scripts/learn_segmentation.py"
