"""Result tables, in Markdown and JSON."""
