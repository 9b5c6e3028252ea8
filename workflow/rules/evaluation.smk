# Scores over seeds, and the table of the demo.
import re

SYSTEM = f"{RESULTS}/{{scale}}{{dataset}}/{{system}}"
DEMO = f"{RESULTS}/demo/demo_en2de"
DEMO_SYSTEMS = ["transformer_base", "depparse_l1", "diagonalparse_l0"]


localrules:
    summarise_seeds,
    demo,


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
