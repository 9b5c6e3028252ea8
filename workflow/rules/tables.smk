# Tables and figures of the papers and of the configured systems, the page of each paper, and the ledger of their claims
# (config/tables); the report. Each table is written as Markdown, CSV and LaTeX.
from nmtcore.tables.plan import (
    all_paper_results,
    claimed_table_jsons,
    paper_figure_inputs,
    paper_table_inputs,
    paper_table_jsons,
    paper_table_notes,
    paper_table_plan,
)
from nmtcore.tables.report_plan import (
    main_tests,
    report_figures,
    report_runs,
    report_scores,
    report_tables,
    system_comparisons,
    system_descriptions,
)


rule tables:
    input:
        planned(all_paper_results),


PLAN = {"plan": planned(paper_table_plan)}
PAPER_TABLES = {
    "paper_table": (
        planned(paper_table_inputs, notes=paper_table_notes),
        {**table_files("paper"), "json": LAYOUT.pattern("paper_json")},
        PLAN,
    ),
    "paper_figure": (
        planned(paper_figure_inputs),
        {
            "figure": LAYOUT.pattern("paper_figure"),
            "pdf": LAYOUT.pattern("paper_figure_pdf"),
        },
        PLAN,
    ),
    "paper_page": (planned(paper_table_jsons), table_files("paper_page"), {}),
    "claim_table": (
        planned(claimed_table_jsons),
        {**table_files("claim"), "json": LAYOUT.pattern("claim_json")},
        {"scale": SETTINGS.scale},
    ),
}


for name, (files, made, facts) in PAPER_TABLES.items():

    rule:
        name:
            name
        input:
            files,
        output:
            **made,
        params:
            **facts,
            version=VERSIONS["reporting"],
            made=name,
        script:
            "../scripts/table.py"


# The report also shows runs that no table needs. These are no inputs, so that it trains none of them again.
rule report_page:
    input:
        tables=planned(report_tables),
        figures=planned(report_figures),
        claims=LAYOUT.pattern("claim_json", table=""),
        scores=planned(report_scores),
    output:
        page=report(LAYOUT.pattern("report"), category="Report"),
    params:
        version=VERSIONS["reporting"],
        scale=SETTINGS.scale,
        runs=planned(report_runs),
        descriptions=planned(system_descriptions),
        tests=planned(main_tests),
        compared_with=planned(system_comparisons),
    script:
        "../scripts/report_page.py"
