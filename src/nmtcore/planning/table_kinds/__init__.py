"""The files that each kind of table is made from: `KIND_inputs(project, table)` lists them.

`KIND_facts(project, table)`, where there is one, returns what else the kind needs to know, as plain values;
`KIND_stand_ins(project, table)` returns the data sets that stand in for the paper's, where they are not those of the
cells.
"""
