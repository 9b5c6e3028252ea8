"""The tables of all keys of the configuration, with their values, defaults and meaning."""

from nmtcore.config.typed import summary
from nmtcore.schemas import FILES, REGISTRIES, SECTIONS, keys_table


def key_tables() -> str:
    """Write a section per kind of file, per section that several have, and per registry."""
    texts = [f"### `{name}`\n\n{summary(cls)}\n\n{keys_table(name)}" for name, cls in {**FILES, **SECTIONS}.items()]
    texts += [f"### `{name}`: all {registry.noun}s\n\n{keys_table(name)}" for name, registry in REGISTRIES.items()]
    return "\n## Keys\n\nA dot leads to the keys of what is inside.\n\n" + "\n".join(texts)
