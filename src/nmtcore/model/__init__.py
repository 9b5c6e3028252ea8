"""The transformer, its components, its batches and its losses."""
