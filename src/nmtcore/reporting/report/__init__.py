"""The report: one HTML file with the ledger of claims, the papers' tables and figures, all runs and their data."""
