"""The attention heads of a run's encoder that its components compute or train."""

from nmtcore.config.runs import RunSettings


def claimed_heads(run: RunSettings) -> dict[str, str]:
    """Name the component behind each encoder head that a component claims, by "LAYER.HEAD"."""
    return {
        claim.removeprefix("encoder.").replace(".head.", "."): name
        for name, settings in run.components.items()
        for claim in settings.claims(run.model)
        if claim.startswith("encoder.") and ".head." in claim
    }
