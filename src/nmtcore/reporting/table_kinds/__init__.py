"""The content of each kind of table: `KIND_content(table, layout)` returns a `TableContent`.

A kind with a figure also has `draw_KIND(data, figure)`, which draws the content's data as SVG.
"""
