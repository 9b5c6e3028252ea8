"""Configuration: read, check and assemble settings for the workflow, its jobs and the command line."""
