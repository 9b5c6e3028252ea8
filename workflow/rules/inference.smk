# What a run's model makes of one split: translations and parses, which evaluation.smk scores; parses by its attention
# heads, gate norms, attention weights, log-probabilities of contrastive pairs.
from nmtcore.planning.inference import gold_trees, measured_features, target_tags


rule translate_split:
    input:
        model=LAYOUT.pattern("model"),
        features=planned(measured_features, measure="translate_split"),
        corpus=LAYOUT.pattern("pairs"),
    output:
        hypotheses=directory(LAYOUT.pattern("hypotheses")),
    wildcard_constraints:
        system=TRAINED,
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


# Each measure: the type of its file, its inputs besides the model and the features, and its parameters.
MEASURES = {
    "score_heads": (
        "head_scores",
        {"corpus": LAYOUT.pattern("pairs"), "trees": planned(gold_trees)},
        {
            **run_params(inference_settings, "sentences"),
            "scoring": VERSIONS["evaluation"],
        },
    ),
    "measure_gates": (
        "gates",
        {"tags": planned(target_tags)},
        run_params(inference_settings, "sentences"),
    ),
    "measure_attention": (
        "attention",
        {},
        # As many sentences as in Figures 6.1 and 6.2 of pham2018
        {
            **run_params(inference_settings, "decoding", "sentences"),
            "sentences": 100,
        },
    ),
    "score_contrasts": (
        "contrast_scores",
        {"contrasts": LAYOUT.pattern("contrasts")},
        run_params(inference_settings, "sentences"),
    ),
}

for measure, (file_type, more_inputs, more_params) in MEASURES.items():

    rule:
        name:
            measure
        input:
            **more_inputs,
            model=LAYOUT.pattern("model"),
            features=planned(measured_features, measure=measure),
        output:
            LAYOUT.pattern(file_type),
        threads: SETTINGS.threads
        resources:
            **WITH_MODEL,
        params:
            **more_params,
        script:
            f"../scripts/{measure}.py"
