"""`nmtcore new` and `nmtcore check`: files of one's own to begin with, and a look at data sets before their jobs start."""
