"""Write a table, a figure, a page of tables, or the ledger: `made` says which."""

from pathlib import Path

from nmtcore.job import job, job_settings

with job(snakemake):
    from nmtcore.reporting.plain_tables import write_plain_table
    from nmtcore.tables import make

    made, output = snakemake.params.made, Path(snakemake.output[0])
    files = list(map(Path, snakemake.input))
    match made:
        case "table":
            make.write_table(snakemake.params.plan, frame=Path(snakemake.output.frame), table=output)
        case "figure":
            make.draw_figure(files[0], output)
        case "paper_page":
            make.write_paper_page(files, output)
        case "claim_table":
            json = Path(snakemake.output.json)
            make.write_claims(files, scale=snakemake.params.scale, json=json, table=output)
        case _:
            named = {name: list(map(Path, paths)) for name, paths in snakemake.input.items()}
            layout = job_settings(snakemake).layout
            write_plain_table(made, named, snakemake.params.planned, layout=layout, table=output)
