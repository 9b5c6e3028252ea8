"""All settings classes of the configuration, for tests that go through every one of them."""

import dataclasses
import importlib
import pkgutil

import nmtcore.config


def settings_classes() -> dict[str, type]:
    """Give every dataclass in `nmtcore.config` by name."""
    modules = (
        importlib.import_module(m.name) for m in pkgutil.walk_packages(nmtcore.config.__path__, "nmtcore.config.")
    )
    members = ((name, cls) for module in modules for name, cls in vars(module).items() if dataclasses.is_dataclass(cls))
    return {name: cls for name, cls in members if cls.__module__.startswith("nmtcore.config")}
