"""Drawings as SVG and HTML: trees, matrices, and subwords coloured by their gates."""
