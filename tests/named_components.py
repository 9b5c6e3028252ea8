"""Components as a system has them: by name."""

from collections import Counter

from nmtcore.config.components import COMPONENTS
from nmtcore.config.features import ComponentSettings


def by_name(*settings: ComponentSettings) -> dict[str, ComponentSettings]:
    """Name components after their kinds (a test's own after their class); a second one of a kind is KIND_2."""
    seen: Counter[str] = Counter()
    named = {}
    for component in settings:
        own = type(component) not in COMPONENTS.values()
        name = type(component).__name__.lower() if own else COMPONENTS.name_of(component)
        seen[name] += 1
        named[name if seen[name] == 1 else f"{name}_{seen[name]}"] = component
    return named
