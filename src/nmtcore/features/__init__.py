"""Features of sentences as numbers: extraction, Parquet files and loading."""
