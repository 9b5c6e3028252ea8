# What a run's model makes of one split: translations and parses, which evaluation.smk scores; gate norms, attention
# weights, log-probabilities of contrastive pairs.
from nmtcore.planning.inference import measured_features, target_tags


rule translate_split:
    input:
        model=LAYOUT.pattern("model"),
        features=planned(measured_features, measure="translate_split"),
        corpus=LAYOUT.pattern("pairs"),
    output:
        hypotheses=directory(LAYOUT.pattern("hypotheses")),
    wildcard_constraints:
        system=TRANSLATING,
    threads: SETTINGS.threads
    resources:
        **{**WITH_MODEL, "runtime": 480},
    params:
        **run_params(inference_settings, *INFERENCE),
    script:
        "../scripts/translate_split.py"


rule parse_gold:
    input:
        model=LAYOUT.pattern("model"),
        features=planned(measured_features, measure="parse_gold"),
    output:
        parses=directory(LAYOUT.pattern("gold_parses")),
    threads: SETTINGS.threads
    resources:
        **WITH_MODEL,
    params:
        **run_params(inference_settings, "sentences", "trees"),
    script:
        "../scripts/parse_gold.py"


rule measure_gates:
    input:
        tags=planned(target_tags),
        model=LAYOUT.pattern("model"),
        features=planned(measured_features, measure="measure_gates"),
    output:
        LAYOUT.pattern("gates"),
    threads: SETTINGS.threads
    resources:
        **WITH_MODEL,
    params:
        **run_params(inference_settings, "sentences"),
    script:
        "../scripts/measure_gates.py"


rule measure_attention:
    input:
        model=LAYOUT.pattern("model"),
        features=planned(measured_features, measure="measure_attention"),
    output:
        LAYOUT.pattern("attention"),
    threads: SETTINGS.threads
    resources:
        **WITH_MODEL,
    params:
        # As many sentences as in Figures 6.1 and 6.2 of pham2018
        **{**run_params(inference_settings, "decoding", "sentences"), "sentences": 100},
    script:
        "../scripts/measure_attention.py"


rule score_contrasts:
    input:
        contrasts=LAYOUT.pattern("contrasts"),
        model=LAYOUT.pattern("model"),
        features=planned(measured_features, measure="score_contrasts"),
    output:
        LAYOUT.pattern("contrast_scores"),
    threads: SETTINGS.threads
    resources:
        **WITH_MODEL,
    params:
        **run_params(inference_settings, "sentences"),
    script:
        "../scripts/score_contrasts.py"
