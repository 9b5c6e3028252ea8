"""What keeps a model from being exported as a plain transformer, found from the hooks that its components override."""

from collections.abc import Iterator
from dataclasses import fields

from nmtcore.errors import UserError
from nmtcore.model.base import TranslationModel
from nmtcore.model.components.base import AttentionHooks, Component, Stack
from nmtcore.model.components.relative_positions import RelativePositions
from nmtcore.model.transformer import Transformer

STACKS: tuple[Stack, ...] = ("encoder", "decoder", "cross")

_WITHOUT_EFFECT = frozenset(
    {
        *("add_to_batch", "source_prefix", "points_to_root", "replaces_positions", "attention_hooks", "initialise"),
        *("read_output", "loss", "loss_weight", "measures", "measure", "begin_epoch", "after_validation"),
        *("training_state", "restore_training_state", "tag_scores", "tag_names", "source_weights", "parse_scores"),
        *("annotate", "step_memory", "before_tanh", "cross_weights"),
    }
)
"""Members of a component that leave the computation of a transformer's translations as it is, those that only a
recurrent model calls, and those that an export takes into account: a prefix, positions, and attention, whose hooks
count one by one. Any other that a component overrides, a future one too, keeps the model from being exported."""

_EFFECTS = {
    "embed_source": "changes the embeddings of the source",
    "change_output": "changes the decoder's output",
    "queries_keys": "has queries and keys of its own",
    "bias": "adds to the scores of attention",
    "scores": "changes the scores of attention",
    "mixed": "changes the outputs of attention heads",
}


def check_exportable(model: TranslationModel, *, where: object) -> None:
    """Raise `UserError` if translating takes more than a transformer with sinusoids or relative positions does.

    `where` names the model in the message.
    """
    if not isinstance(model, Transformer):
        base = type(model).__name__.lower()
        raise UserError(f"{where} cannot be exported: its base is {base}, and only transformers can be exported.")
    relative = relative_positions(model)
    for component in model.components:
        if component is relative:
            continue
        if effect := next(_effects(component, model), None):
            raise UserError(
                f"{where} cannot be exported: its component {component.name} {effect}{_needs(component)}, which a "
                "plain transformer does not. `nmtcore translate` translates with it."
            )


def relative_positions(model: Transformer) -> RelativePositions | None:
    """Return the model's component of relative positions, the first if there are several."""
    return next((c for c in model.components if type(c) is RelativePositions), None)


def _effects(component: Component, model: Transformer) -> Iterator[str]:
    """Say what a component does while a source is translated, to attention first."""
    layers = {"encoder": model.encoder, "decoder": model.decoder, "cross": model.decoder}
    for stack in STACKS:
        for layer in range(len(layers[stack])):
            hooks = component.attention_hooks(stack, layer) or AttentionHooks()
            names = [field.name for field in fields(hooks) if field.name != "observe"]
            yield from (_EFFECTS.get(n, f"has the hook {n}") for n in names if getattr(hooks, n) is not None)
    for name in vars(Component):
        overridden = getattr(type(component), name) is not getattr(Component, name)
        if overridden and not name.startswith("_") and name not in _WITHOUT_EFFECT:
            yield _EFFECTS.get(name, f"overrides {name}")


def _needs(component: Component) -> str:
    """Say which features of each source a component reads in translation, if any."""
    settings = component.settings
    features = settings.needs.get("source", ()) if settings is not None and settings.needs_at_inference else ()
    names = " and ".join(feature.replace("_", " ") for feature in features)
    return f" by the {names} of each source" if names else ""
