"""The commands `nmtcore new` and `nmtcore check`: files to begin with, and a look at text before it is used."""
