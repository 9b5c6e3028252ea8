"""Components as a system has them: by name."""

from collections import Counter

from nmtcore.config.components import COMPONENTS, ComponentSettings


def by_name(*settings: ComponentSettings) -> dict[str, ComponentSettings]:
    """Name components after their kinds (a test's own after their class); a second one of a kind is KIND_2."""
    seen: Counter[str] = Counter()
    named = {}
    for component in settings:
        own = type(component) not in COMPONENTS.values()
        kind = type(component).__name__.lower() if own else COMPONENTS.name_of(component)
        seen[kind] += 1
        named[kind if seen[kind] == 1 else f"{kind}_{seen[kind]}"] = component
    return named
