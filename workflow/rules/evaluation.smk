# Scores of a run, summaries of a system over its seeds, and the table of the demo.
from nmtcore.config.stages import ScoringSettings
from nmtcore.planning.runs import pair_files, seed_scores, tree_files

DEMO = LAYOUT.pattern("summary", scale="demo", dataset="demo_en2de")
DEMO_SYSTEMS = ["transformer_base", "depparse_l1", "diagonalparse_l0"]


localrules:
    score_tests,
    score_gold,
    summarise_seeds,
    demo,


rule score_tests:
    input:
        hypotheses=LAYOUT.pattern("hypotheses"),
        corpus=planned(pair_files, splits="parsed_tests"),
        trees=planned(tree_files, splits="parsed_tests"),
    output:
        scores=LAYOUT.pattern("scores"),
    log:
        LAYOUT.log("score_tests"),
    benchmark:
        LAYOUT.benchmark("score_tests")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["evaluation"],
        settings=run_param(scoring_settings, ScoringSettings.of_tests),
    script:
        "../scripts/score_tests.py"


rule score_gold:
    input:
        parses=LAYOUT.pattern("gold_parses"),
        corpus=planned(pair_files, splits="gold"),
        trees=planned(tree_files, splits="gold"),
    output:
        scores=LAYOUT.pattern("gold_scores"),
    log:
        LAYOUT.log("score_gold"),
    benchmark:
        LAYOUT.benchmark("score_gold")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["evaluation"],
        settings=run_param(gold_scoring_settings, ScoringSettings.of_gold),
    script:
        "../scripts/score_gold.py"


rule summarise_seeds:
    input:
        planned(seed_scores),
    output:
        LAYOUT.pattern("summary"),
    log:
        LAYOUT.log("summarise_seeds"),
    benchmark:
        LAYOUT.benchmark("summarise_seeds")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["evaluation"],
        seeds=list(SETTINGS.seeds),
    script:
        "../scripts/summarise_seeds.py"


rule demo:
    input:
        bleu=expand(DEMO, system=DEMO_SYSTEMS, score="bleu"),
        uas=expand(DEMO, system=DEMO_SYSTEMS[1:], score="uas"),
    output:
        **table_files("demo"),
    log:
        LAYOUT.log("demo"),
    benchmark:
        LAYOUT.benchmark("demo")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["evaluation"],
    script:
        "../scripts/demo_table.py"
