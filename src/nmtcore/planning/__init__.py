"""Planning: which files the jobs of the workflow read, write and depend on, derived from the configuration."""
