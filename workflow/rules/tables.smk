# Tables and figures of the papers and of the configured systems, the page of each paper, and the ledger of their claims
# (config/tables); the report. Each table is written as Markdown, CSV and LaTeX, with its frame, which
# figures, pages, the ledger and the report are made from.
from nmtcore.tables.plan import (
    all_figures,
    all_paper_results,
    claimed_table_frames,
    figure_inputs,
    main_tests,
    report_runs,
    report_scores,
    system_comparisons,
    system_descriptions,
    table_inputs,
    table_frames,
    table_notes,
    table_plan,
)


rule tables:
    input:
        planned(all_paper_results),


PAPER_TABLES = {
    "table": (
        planned(table_inputs, notes=table_notes),
        {**table_files("table"), "frame": LAYOUT.pattern("table_frame")},
        {"plan": planned(table_plan)},
    ),
    "figure": (
        planned(figure_inputs),
        {
            "figure": LAYOUT.pattern("figure"),
            "pdf": LAYOUT.pattern("figure_pdf"),
        },
        {},
    ),
    "paper_page": (planned(table_frames), table_files("paper_page_table"), {}),
    "claim_table": (
        planned(claimed_table_frames),
        {**table_files("claim_table"), "json": LAYOUT.pattern("claim_json")},
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
        tables=planned(table_frames),
        figures=planned(all_figures),
        claims=LAYOUT.pattern("claim_json", folder=""),
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
