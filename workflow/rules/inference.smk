# Translations and parses of a run, in one process, parses by its attention heads, gate norms, attention weights, and the
# log-probabilities of contrastive pairs; evaluation.smk scores the first two.
from nmtcore.planning.runs import (
    feature_files,
    pair_files,
    split_features,
    target_tags,
    treebank_files,
)


rule translate_tests:
    input:
        model=LAYOUT.pattern("model"),
        features=planned(feature_files, splits="tests"),
        corpus=planned(pair_files, splits="tests"),
    output:
        hypotheses=directory(LAYOUT.pattern("hypotheses")),
    log:
        LAYOUT.log("translate_tests"),
    benchmark:
        LAYOUT.benchmark("translate_tests")
    wildcard_constraints:
        system=TRAINED,
    conda:
        "../../envs/core.yaml"
    threads: SETTINGS.threads
    resources:
        mem_mb=8000,
        runtime=480,
        gpu=min(GPUS, 1),
    params:
        **run_params(inference_settings, *INFERENCE),
        version=VERSIONS["inference"],
    script:
        "../scripts/translate_tests.py"


rule parse_gold:
    input:
        model=LAYOUT.pattern("model"),
        features=planned(feature_files, splits="gold"),
    output:
        parses=directory(LAYOUT.pattern("gold_parses")),
    log:
        LAYOUT.log("parse_gold"),
    benchmark:
        LAYOUT.benchmark("parse_gold")
    conda:
        "../../envs/core.yaml"
    threads: SETTINGS.threads
    resources:
        mem_mb=8000,
        runtime=120,
        gpu=min(GPUS, 1),
    params:
        **run_params(gold_settings, "gold", "sentences", "trees"),
        version=VERSIONS["inference"],
    script:
        "../scripts/parse_gold.py"


rule score_heads:
    input:
        model=LAYOUT.pattern("model"),
        features=planned(split_features),
        treebank=planned(treebank_files),
    output:
        LAYOUT.pattern("head_scores"),
    log:
        LAYOUT.log("score_heads"),
    benchmark:
        LAYOUT.benchmark("score_heads")
    conda:
        "../../envs/core.yaml"
    threads: SETTINGS.threads
    resources:
        mem_mb=8000,
        runtime=120,
        gpu=min(GPUS, 1),
    params:
        **run_params(gold_settings, "sentences"),
        version=VERSIONS["inference"],
        scoring=VERSIONS["evaluation"],
    script:
        "../scripts/score_heads.py"


rule measure_gates:
    input:
        model=LAYOUT.pattern("model"),
        features=planned(split_features),
        tags=planned(target_tags),
    output:
        LAYOUT.pattern("gates"),
    log:
        LAYOUT.log("measure_gates"),
    benchmark:
        LAYOUT.benchmark("measure_gates")
    conda:
        "../../envs/core.yaml"
    threads: SETTINGS.threads
    resources:
        mem_mb=8000,
        runtime=120,
        gpu=min(GPUS, 1),
    params:
        **run_params(inference_settings, "sentences"),
        version=VERSIONS["inference"],
    script:
        "../scripts/measure_gates.py"


rule measure_attention:
    input:
        model=LAYOUT.pattern("model"),
        features=planned(split_features),
    output:
        LAYOUT.pattern("attention"),
    log:
        LAYOUT.log("measure_attention"),
    benchmark:
        LAYOUT.benchmark("measure_attention")
    conda:
        "../../envs/core.yaml"
    threads: SETTINGS.threads
    resources:
        mem_mb=8000,
        runtime=120,
        gpu=min(GPUS, 1),
    params:
        **run_params(inference_settings, "decoding", "sentences"),
        # As many as in Figures 6.1 and 6.2 of pham2018
        version=VERSIONS["inference"],
        sentences=100,
    script:
        "../scripts/measure_attention.py"


rule score_contrasts:
    input:
        model=LAYOUT.pattern("model"),
        features=planned(split_features),
        contrasts=LAYOUT.pattern("contrasts"),
    output:
        LAYOUT.pattern("contrast_scores"),
    log:
        LAYOUT.log("score_contrasts"),
    benchmark:
        LAYOUT.benchmark("score_contrasts")
    conda:
        "../../envs/core.yaml"
    threads: SETTINGS.threads
    resources:
        mem_mb=8000,
        runtime=120,
        gpu=min(GPUS, 1),
    params:
        **run_params(gold_settings, "sentences"),
        version=VERSIONS["inference"],
    script:
        "../scripts/score_contrasts.py"
