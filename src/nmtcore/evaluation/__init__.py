"""Scores of translations and parses, and their summaries over seeds."""
