# Plain tables of the configured data sets and systems: sizes after each stage, annotations, parsers,
# contrastive pairs. The index of all runs, and the licences of all data. (tables.smk makes those
# tables of the configured systems that are specified as the papers' are.)
# A name of the user's choice, results/tables/NAME/data.md, keeps several versions of a table or figure apart.
from nmtcore.planning.manifests import read_datasets, reading_reports, run_times
from nmtcore.planning.configured import (
    configured_annotation_reports,
    configured_comparisons,
    configured_contrasts,
    configured_labels,
    configured_reports,
    published_sizes,
)

# The files of each table by what they are, and what is planned for it.
PLAIN_TABLES = {
    "data": (
        {
            "reports": planned(configured_reports),
            "features": planned(configured_tokens),
        },
        planned(published_sizes, counted="pairs"),
    ),
    "annotation": (
        {
            "reports": planned(configured_annotation_reports),
            "labels": planned(configured_labels),
        },
        planned(published_sizes, counted="tags"),
    ),
    "parsers": (
        {"comparisons": planned(configured_comparisons)},
        list(SETTINGS.datasets),
    ),
    "contrast": ({"scores": planned(configured_contrasts)}, SETTINGS.scale),
}


for name, (files, facts) in PLAIN_TABLES.items():

    rule:
        name:
            f"{name}_table"
        input:
            **files,
        output:
            **table_files(f"{name}_table"),
        params:
            made=name,
            planned=facts,
        script:
            "../scripts/table.py"


# Runs and data are not declared as inputs, so that an index or a table of those that are there makes none again.
rule index_runs:
    output:
        runs=LAYOUT.pattern("all_runs"),
        scores=LAYOUT.pattern("all_scores"),
    params:
        times=planned(run_times),
    script:
        "../scripts/index_runs.py"


rule licence_table:
    output:
        **table_files("licence_table"),
        json=LAYOUT.pattern("licence_json"),
    params:
        times=planned(run_times),
        datasets=planned(read_datasets),
        read=planned(reading_reports),
    script:
        "../scripts/licence_table.py"


# Without an output, so that it runs whenever it is asked for.
rule verify:
    params:
        version=VERSIONS["reporting"],
        versions=lambda wildcards: {
            each.name: each.params.version for each in workflow.rules if each.script
        },
    script:
        "../scripts/verify.py"
