"""Result tables in Markdown, CSV, LaTeX, HTML and JSON, and figures."""
