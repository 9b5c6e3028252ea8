# Translations and parses of a run, in one process, which evaluation.smk scores; and what is measured of its model on one
# split: parses by its attention heads, gate norms, attention weights, log-probabilities of contrastive pairs.
from nmtcore.planning.runs import (
    feature_files,
    gold_features,
    gold_trees,
    measured_features,
    pair_files,
    target_tags,
)


rule translate_tests:
    input:
        model=LAYOUT.pattern("model"),
        features=planned(feature_files, splits="tests"),
        corpora=planned(pair_files, splits="tests"),
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
        "../scripts/job.py"


rule parse_gold:
    input:
        model=LAYOUT.pattern("model"),
        features=planned(gold_features),
    output:
        parses=directory(LAYOUT.pattern("gold_parses")),
    threads: SETTINGS.threads
    resources:
        **WITH_MODEL,
    params:
        **run_params(gold_settings, "gold", "sentences", "trees"),
    script:
        "../scripts/job.py"


# Each measure: the type of its file, its inputs besides the model and the features, and its parameters.
MEASURES = {
    "score_heads": (
        "head_scores",
        {"corpus": LAYOUT.pattern("pairs"), "trees": planned(gold_trees)},
        {
            **run_params(gold_settings, "sentences"),
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
        run_params(gold_settings, "sentences"),
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
            "../scripts/job.py"
