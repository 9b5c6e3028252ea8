"""Tables, from YAML to the parameters of the jobs that write them: their cells, what these measure, and claims."""
