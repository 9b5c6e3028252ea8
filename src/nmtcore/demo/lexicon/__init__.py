"""The words of the demo corpus in both languages."""
