# Scores of one run, of a system over its seeds, and the table of the demo.
import re

SYSTEM = f"{RESULTS}/{{scale}}{{dataset}}/{{system}}"
DEMO = f"{RESULTS}/demo/demo_en2de"
DEMO_SYSTEMS = ["transformer_base", "depparse_l1", "diagonalparse_l0"]


localrules:
    score_tests,
    score_gold,
    summarise_seeds,
    demo,


rule score_tests:
    input:
        hypotheses=f"{RUN}/hypotheses",
        corpus=lambda wildcards: [
            f"{DATA}/corpus/{split}.parquet"
            for split in run_of(wildcards).parsed_tests
        ],
        trees=lambda wildcards: annotation_files(
            run_of(wildcards), run_of(wildcards).parsed_tests
        ),
    output:
        scores=f"{RUN}/scores.json",
    log:
        f"{LOGS}/{{scale}}{{dataset}}/{{system}}/seed{{seed}}.scores.log",
    benchmark:
        f"{BENCHMARKS}/{{scale}}{{dataset}}/{{system}}/seed{{seed}}.scores.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["evaluation"],
        run=run_param(scoring_settings),
    script:
        "../scripts/score_tests.py"


rule score_gold:
    input:
        parses=f"{RUN}/gold",
        corpus=lambda wildcards: [
            f"{DATA}/corpus/{split}.parquet" for split in run_of(wildcards).gold
        ],
        trees=lambda wildcards: annotation_files(
            run_of(wildcards), run_of(wildcards).gold
        ),
    output:
        scores=f"{RUN}/gold.json",
    log:
        f"{LOGS}/{{scale}}{{dataset}}/{{system}}/seed{{seed}}.gold_scores.log",
    benchmark:
        f"{BENCHMARKS}/{{scale}}{{dataset}}/{{system}}/seed{{seed}}.gold_scores.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["evaluation"],
        run=run_param(gold_scoring_settings),
    script:
        "../scripts/score_gold.py"


rule summarise_seeds:
    input:
        lambda wildcards: [
            f"{SYSTEM}/seed{seed}/{'gold' if wildcards.score == 'gold.uas' else 'scores'}.json"
            for seed in SETTINGS.seeds
        ],
    output:
        f"{SYSTEM}.{{score}}",
    log:
        f"{LOGS}/{{scale}}{{dataset}}/{{system}}.{{score}}.log",
    benchmark:
        f"{BENCHMARKS}/{{scale}}{{dataset}}/{{system}}.{{score}}.tsv"
    wildcard_constraints:
        score="|".join(map(re.escape, SCORES)),
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["evaluation"],
        seeds=list(SETTINGS.seeds),
    script:
        "../scripts/summarise_seeds.py"


rule demo:
    input:
        bleu=expand(f"{DEMO}/{{system}}.bleu", system=DEMO_SYSTEMS),
        uas=expand(f"{DEMO}/{{system}}.uas", system=DEMO_SYSTEMS[1:]),
    output:
        f"{RESULTS}/tables/demo.md",
    log:
        f"{LOGS}/demo.log",
    benchmark:
        f"{BENCHMARKS}/demo.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["evaluation"],
    script:
        "../scripts/demo_table.py"
