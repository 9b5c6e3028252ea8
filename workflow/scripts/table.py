"""Write a table, a figure, a page of tables, or the ledger: `made` says which."""

from pathlib import Path

from nmtcore.job import job, job_settings

with job(snakemake):
    from nmtcore.reporting import paper_table
    from nmtcore.reporting.plain_tables import write_plain_table

    made, output = snakemake.params.made, Path(snakemake.output[0])
    files = list(map(Path, snakemake.input))
    layout = job_settings(snakemake).layout
    match made:
        case "table":
            json = Path(snakemake.output.json)
            paper_table.write_table(snakemake.params.plan, layout=layout, json=json, table=output)
        case "figure":
            paper_table.draw_figure(snakemake.params.plan, output, layout=layout)
        case "paper_page":
            paper_table.write_paper_page(files, output)
        case "claim_table":
            json = Path(snakemake.output.json)
            paper_table.write_claims(files, scale=snakemake.params.scale, json=json, table=output)
        case _:
            named = {name: list(map(Path, paths)) for name, paths in snakemake.input.items()}
            write_plain_table(made, named, snakemake.params.planned, layout=layout, table=output)
