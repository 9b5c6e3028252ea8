"""The interface of components: optional hooks through which they add syntax to a model.

A component overrides the hooks it needs; the others do nothing. Components are called in the order in which the system
lists them: one that adds to scores belongs before one that multiplies them.

Shapes: B sentences, D width, E head width, H heads, K keys, M beams, Q queries, S source, T target.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from torch import Tensor, nn

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.errors import UserError
from nmtcore.model.batch import BatchArrays, LabelVocabularies

Stack = Literal["encoder", "decoder", "cross"]
"""Self-attention of the encoder, self-attention of the decoder, or attention of the decoder to the source."""

Note = TypeVar("Note")


@dataclass(kw_only=True)
class Context:
    """One pass through the model: the source, the encoder's output, and what components share.

    In step-by-step decoding every step has its own context, with an empty `extra`: the rows of a search change as
    sentences finish.
    """

    mask_BS: Tensor
    """True for real source tokens."""
    words_BS: Tensor | None = None
    """The word (from 0) of each source token, `NO_WORD` for tokens outside words; None in step-by-step decoding."""
    ids_B: np.ndarray | None = None
    """The ids of the examples, for messages."""
    extra: dict[str, Tensor] = field(default_factory=dict)
    """The tensors that `add_to_batch` added."""
    notes: dict[str, Any] = field(default_factory=dict)
    """The intermediate results of each component, by its name (`Component.note`)."""
    memory_BSD: Tensor | None = None
    """The encoder's output, after `encode`."""
    last: Sequence[tuple[Tensor, Tensor]] = ()
    """The last hidden and cell state of every layer of a recurrent encoder, both directions side by side: (B, D)."""


@dataclass(kw_only=True)
class AttentionInputs:
    """The input of one attention layer, with its queries and keys.

    In decoding, the last query is the newest position: query i is at position `keys - queries + i`.
    """

    states_BQD: Tensor
    """The layer's input, after the layer norm if the norm comes first."""
    queries_BHQE: Tensor
    keys_BHKE: Tensor
    context: Context


@dataclass(frozen=True, kw_only=True)
class AttentionHooks:
    """The functions that a component adds to one attention layer."""

    queries_keys: Callable[[AttentionInputs], tuple[Tensor, Tensor]] | None = None
    """Return queries_BHQE and keys_BHKE, with those of the claimed heads replaced."""
    bias: Callable[[AttentionInputs], Tensor] | None = None
    """Return a term to add to scores_BHQK (after the division by sqrt(E)), in a shape that broadcasts to theirs. Called
    after every `queries_keys`; added before any `scores`."""
    scores: Callable[[Tensor, AttentionInputs], Tensor] | None = None
    """Return changed scores_BHQK (after the division by sqrt(E), before mask and softmax)."""
    observe: Callable[[AttentionInputs, Tensor], None] | None = None
    """Read the inputs and scores_BHQK (before the mask) and change nothing."""


@dataclass(frozen=True, kw_only=True)
class Build:
    """What a component is built from, beside its settings."""

    name: str
    """Unique in the model: the key of its loss, count, notes and extras."""
    model: Any = None
    """The settings of the model."""
    dataset: str = "the data set"
    """The name of the data set, for messages."""
    labels: LabelVocabularies = field(default_factory=dict)

    def label_vocabulary(self, column: str, *, side: Literal["source", "target"] = "source") -> Sequence[str]:
        """Return the label vocabulary of one side's column of the feature files ("deprel"...).

        Raises UserError, naming the columns that have labels, if this one has none.
        """
        vocabularies = self.labels.get(side, {}).items()
        columns = {name: labels for name, labels in vocabularies if len(labels) > len(LABEL_SPECIALS)}
        if column in columns:
            return columns[column]
        raise UserError(
            f"{self.name} reads the {column} of the {side}'s words, but there are no such labels in {self.dataset}, "
            f"only {', '.join(sorted(columns)) or 'none'}. Name an annotator that provides them in `syntax` of the "
            "data set, and run the workflow again."
        )


class Component(nn.Module, Generic[Note]):
    """A part of a model that adds syntax. Subclasses override the hooks they need.

    One that needs intermediate results later in the same pass notes them; `Note` is their type.
    """

    source_prefix: tuple[int, ...] = ()
    """Ids to put before every source sentence."""
    points_to_root: bool = False
    """Whether column 0 of `parse_scores` is the artificial root."""

    tag_names: Sequence[str] = ()
    """The labels that `tag_scores` scores; the first are `LABEL_SPECIALS`, the last two `</s>` and `<s>`."""
    loss_weight: float = 1.0
    """The factor of the mean loss in the objective; it may change between updates. 0: no gradient is computed."""

    def __init__(self, settings: Any, build: Build) -> None:
        super().__init__()
        self.settings, self.name = settings, build.name

    def set_note(self, context: Context, note: Note) -> None:
        """Note what this component needs later in the pass."""
        context.notes[self.name] = note

    def note(self, context: Context) -> Note:
        """Return what this component has noted."""
        return context.notes[self.name]

    def replaces_positions(self, stack: Stack) -> bool:
        """Say whether this component replaces the sinusoids of the encoder or the decoder."""
        return False

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Return the hooks for one attention layer (from 0), or None. Called once, when the model is built."""
        return None

    def add_to_batch(self, arrays: BatchArrays) -> None:
        """Add what the model will need to `arrays.extra` and `arrays.counts`: vectorised numpy, no torch.

        Names in `extra` begin with the component's name. The count of the loss is a number known before the forward
        pass, so that gradient accumulation and several devices can divide by the global count.
        """

    def embed_source(self, embedded_BSD: Tensor, context: Context) -> Tensor:
        """Change the scaled embeddings of the source, before positions are added."""
        return embedded_BSD

    def change_output(self, states: Tensor, context: Context) -> Tensor:
        """Read or change the decoder's states, of which the output layer makes scores of the vocabulary.

        The states are those at the real target positions (N, D), in their order, or those of a step of a search (Z, D);
        then `context.words_BS` is None.
        """
        return states

    def tag_scores(self, context: Context) -> Tensor:
        """Return log-probabilities of the labels `tag_names` at the real target positions, (N, L), after decoding."""
        raise NotImplementedError

    def correct_tags(self, context: Context) -> Tensor:
        """Count the tags that are the likeliest at their position; called after `loss`, only in validation.

        The share of all tags that the loss counts, on all devices, is the validation score "accuracy/{name}".
        """
        raise NotImplementedError

    @property
    def has_loss(self) -> bool:
        """Whether this component has a loss."""
        return type(self).loss is not Component.loss

    def loss(self, context: Context) -> Tensor:
        """Sum this component's loss (fp32) over the items that it counts in `BatchArrays.counts`.

        Called after `encode` and, if the batch has targets, after decoding.
        """
        raise NotImplementedError

    def begin_epoch(self, epoch: int) -> None:
        """Prepare for the updates of an epoch (from 1), also when training resumes within it or at its end."""

    @property
    def parses(self) -> bool:
        """Whether this component scores the head of every word."""
        return type(self).parse_scores is not Component.parse_scores

    def parse_scores(self, context: Context) -> list[np.ndarray]:
        """Score the head of every word; after `encode`.

        Returns one float32 array of log-probabilities per sentence, of shape (words, 1 + words) with the root in
        column 0 if `points_to_root`, else (words, words).
        """
        raise NotImplementedError

    def initialise(self, initialisation: str) -> None:
        """Set parameters that need other initial values; called after `build.initialise_model` set all parameters."""

    def make_neutral(self) -> None:
        """Set parameters so that the component changes nothing; their gradients must not all be zero.

        Called after `initialise` if the component is added to a trained model and is `neutral_at_first`.
        """


@dataclass(kw_only=True)
class RecurrentNote:
    """What a component of a recurrent model notes for analysis."""

    source_weights_BSS: Tensor
    """The weights that each source token (a row) gives to the source tokens."""
    cross_weights_BTS: Tensor | None = None
    """Those of `RecurrentComponent.cross_weights` at all target positions, if the model is observed."""


class RecurrentComponent(Component[Note]):
    """A component of a recurrent model, called in each step of the decoder; its note is a `RecurrentNote`."""

    def annotate(self, memory_BSD: Tensor, context: Context) -> Tensor:
        """Note what the encoder's annotations give, and return these, or others in their place."""
        raise NotImplementedError

    def step_memory(self, context: Context) -> dict[str, Tensor] | None:
        """Return what `before_tanh` needs of every sentence, by name; the first dimension of each tensor is B.

        Without it (None), the decoder does not call this component.
        """
        return None

    def before_tanh(self, hidden_BMD: Tensor, weights_BMS: Tensor, memory: Mapping[str, Tensor]) -> Tensor:
        """Return what is added to `W [c; h]` in each step: (B, M, D).

        `hidden_BMD` is h, `weights_BMS` the attention over the source, and `memory` has the tensors that
        `step_memory` returned.
        """
        raise NotImplementedError

    def cross_weights(self, hidden_BMD: Tensor, memory: Mapping[str, Tensor]) -> Tensor | None:
        """Return the weights of the component's own attention to the source: (B, M, S).

        The arguments are those of `before_tanh`. None if the component has no such attention.
        """
        return None


class LanguageCode(Component[None]):
    """Puts the entry of a language code before every source, for a published model with several target languages."""

    def __init__(self, entry: int) -> None:
        super().__init__(None, Build(name="language_code"))
        self.source_prefix = (entry,)


def layer_hooks(components: Iterable[Component], stack: Stack, layer: int) -> list[AttentionHooks]:
    """Collect the hooks of all components for one attention layer."""
    hooks = [component.attention_hooks(stack, layer) for component in components]
    return [hook for hook in hooks if hook is not None]


def measure_names(components: Iterable[Component]) -> tuple[str, ...]:
    """Name what is measured in validation: the accuracy of every component that predicts tags."""
    return tuple(f"accuracy/{component.name}" for component in components if component.tag_names)
