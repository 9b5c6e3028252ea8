"""Components as a system has them: by name."""

from collections import Counter

from nmtcore.config.components import COMPONENTS, ComponentSettings


def by_name(*settings: ComponentSettings) -> dict[str, ComponentSettings]:
    """Give components their registered names, or a test's own those of their classes; the second is NAME_2."""
    seen: Counter[str] = Counter()
    named = {}
    for component in settings:
        registered = type(component) in COMPONENTS.values()
        name = COMPONENTS.name_of(component) if registered else type(component).__name__.lower()
        seen[name] += 1
        named[name if seen[name] == 1 else f"{name}_{seen[name]}"] = component
    return named
