# Tables and figures of the papers, the page of each paper, and the ledger of their claims (config/tables); the report.
from nmtcore.planning.paper_tables import (
    all_paper_results,
    claimed_table_jsons,
    paper_table_inputs,
    paper_table_jsons,
    paper_table_notes,
    paper_table_plan,
)
from nmtcore.planning.report import (
    main_tests,
    report_datasets,
    report_figures,
    report_runs,
    report_scores,
    report_tables,
    system_descriptions,
)


localrules:
    tables,
    paper_table,
    paper_figure,
    paper_page,
    claim_table,
    report_page,


rule tables:
    input:
        planned(all_paper_results),


rule paper_table:
    input:
        planned(paper_table_inputs, notes=paper_table_notes),
    output:
        **table_files("paper"),
        json=LAYOUT.pattern("paper_json"),
    log:
        LAYOUT.log("paper_table"),
    benchmark:
        LAYOUT.benchmark("paper_table")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        plan=planned(paper_table_plan),
    script:
        "../scripts/paper_table.py"


rule paper_figure:
    input:
        LAYOUT.pattern("paper_json"),
    output:
        LAYOUT.pattern("paper_figure"),
    log:
        LAYOUT.log("paper_figure"),
    benchmark:
        LAYOUT.benchmark("paper_figure")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
    script:
        "../scripts/paper_figure.py"


rule paper_page:
    input:
        planned(paper_table_jsons),
    output:
        **table_files("paper_page"),
    log:
        LAYOUT.log("paper_page"),
    benchmark:
        LAYOUT.benchmark("paper_page")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
    script:
        "../scripts/paper_page.py"


rule claim_table:
    input:
        planned(claimed_table_jsons),
    output:
        **table_files("claim"),
        json=LAYOUT.pattern("claim_json"),
    log:
        LAYOUT.log("claim_table"),
    benchmark:
        LAYOUT.benchmark("claim_table")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        scale=SETTINGS.scale,
    script:
        "../scripts/claim_table.py"


# The report also shows runs that no table needs. These are no inputs, so that it trains none of them again.
rule report_page:
    input:
        tables=planned(report_tables),
        figures=planned(report_figures),
        claims=LAYOUT.pattern("claim_json", table=""),
        scores=planned(report_scores),
    output:
        report(LAYOUT.pattern("report"), category="Report"),
    log:
        LAYOUT.log("report_page"),
    benchmark:
        LAYOUT.benchmark("report_page")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        scale=SETTINGS.scale,
        runs=planned(report_runs),
        descriptions=planned(system_descriptions),
        tests=planned(main_tests),
        baseline=SETTINGS.baseline or "transformer_base",
        datasets=planned(report_datasets),
    script:
        "../scripts/report.py"
