"""Settings of the package's components, their registry, and checks of those that a system has.

To add a component: its settings here, beside its relatives, its class in `model/components/`, and a line in
`COMPONENTS`, which names both.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from nmtcore.config.features import FEATURES, SOURCE_TREES, ComponentSettings, Trees, claim_head, feature_named
from nmtcore.config.registry import Registry
from nmtcore.config.training import RecurrentSettings, TransformerSettings
from nmtcore.config.typed import (
    Count,
    Distance,
    Fraction,
    HeadCount,
    HeadIndex,
    Index,
    NonNegative,
    Positive,
    Probability,
    Range,
    Width,
    settings_class,
)
from nmtcore.errors import UserError, joined_by_or


@settings_class
class EncoderHeadSettings(ComponentSettings):
    """Base of the settings of components that have one head of the encoder."""

    layer: Index
    """Encoder layer, counted from 0."""
    head: HeadIndex = -1
    """Head of the layer, counted from 0; a negative one counts from the end."""

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Claim the head; raise a `ValueError` if the model lacks it."""
        return (claim_head(model, layer=self.layer, head=self.head),)


@settings_class
class ParserHeadSettings(EncoderHeadSettings):
    """Base of the settings of encoder heads that are trained to parse."""

    needs_at_inference = False
    trees = ("supervised", "induced")

    weight: NonNegative = 1.0
    """Weight of its loss; the translation's loss has the weight 1."""

    ASSUMED: ClassVar = {
        "weight": "The thesis gives none, and the objective of its released code, a softmax of a softmax, is weaker. "
        "It matters: on the demo corpus, the weight 0.1 gained 4 to 6 BLEU after 1,250 updates where the weight 1 lost "
        "2 to 5; after 2,500 updates, the weight 1 gained 1 to 3. A second loss slows the start. The systems `_light` "
        "have 0.1.",
        "mean of the head's loss": "A mean over the supervised tokens of an update, as the loss of translation is.",
        "no smoothing of the head's loss": "The thesis smooths the labels of words and says nothing of heads.",
        "`</s>` is no candidate": "No word's governor is the end of the sentence, so the head's softmax leaves it out.",
        "heads of subwords": "The thesis has whole words. The first subword of a word points to that of the governor, "
        "and the others to the first of their own word.",
    }

    @property
    def has_second_loss(self) -> bool:
        """Whether its loss counts."""
        return self.weight > 0


@settings_class
class DepParseSettings(ParserHeadSettings):
    """A head that points from each word to its governor, with `<ROOT>` before the source (pham2018, section 4.1).

    Needs dependencies on the source side. A system can have only one that puts `<ROOT>` before the source.
    """

    needs = SOURCE_TREES
    reads_labels = False

    root: Literal["symbol", "itself"] = "symbol"
    """What a root points to. symbol: `<ROOT>` before the source, which a model trained without it does not know.
    itself: its own first subword, so that the model reads the same sources as without the component."""

    @property
    def neutral_at_first(self) -> bool:
        """Whether the source stays as it is."""
        return self.root == "itself"

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Claim the head, and with `<ROOT>` the position before the source."""
        prefix = ("source.prefix (where <ROOT> stands)",) if self.root == "symbol" else ()
        return (*super().claims(model), *prefix)


@settings_class
class DiagonalParseSettings(ParserHeadSettings):
    """The control for `depparse`: a head that points from each word to the previous one (pham2018, section 6.3)."""

    trees = ("chain",)
    neutral_at_first = True


@settings_class
class SisaSettings(ParserHeadSettings):
    """A head with its own biaffine operator, trained to point from each subword to its governor's first subword.

    Needs dependencies on the source side.
    """

    needs = SOURCE_TREES
    reads_labels = False

    layer: Index = 0
    head: HeadIndex = 0
    slope: Annotated[float, Range(least=0, most=1)] = 0.1
    """Slope of the leaky ReLU below 0."""

    ASSUMED: ClassVar = {
        "weight": "The paper maximises the joint probability of translation and heads, in which both weigh alike; "
        "here, each loss is a mean.",
        "slope": "The paper gives none. Strubell et al. use this one, after Dozat.",
        "start of U": "Neither paper describes it, and the released code leaves memory uninitialised. Xavier's uniform "
        "distribution, divided by the root of the head's width: scores are not divided by it, so otherwise the head "
        "would start nearly one-hot.",
        "no smoothing of the head's loss": "The paper smooths the labels of words and says nothing of heads.",
        "heads of subwords": "All subwords of a word point to the first of the governor's; those of a root to its own "
        "first.",
    }


@settings_class
class PascalSettings(ComponentSettings):
    """Encoder heads whose scores are multiplied by a Gaussian around each token's governor (Pascal).

    Needs dependencies on the source side.
    """

    needs = SOURCE_TREES
    reads_labels = False

    heads: HeadCount
    """Number of heads per layer, counted from the first."""
    layers: tuple[Index, ...] = (0,)
    """Encoder layers, counted from 0 (one in the paper)."""
    variance: Positive = 1.0
    """Variance of the Gaussian, in squared subwords."""
    ignoring: Probability = 0.0
    """Probability that a token's scores stay unscaled in training."""
    parent_only: bool = False
    """The paper's ablation: scores within one subword of the governor's position stay, all others become 0."""

    ASSUMED: ClassVar = {"governor of `</s>`": "Its own position, as that of a root."}

    def __post_init__(self) -> None:
        if not self.layers or len(set(self.layers)) != len(self.layers):
            raise ValueError("layers must be a list of different numbers, at least one")

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Claim the first heads of the layers; raise a `ValueError` if the model lacks one of them."""
        if self.heads > model.heads:
            raise ValueError(f"{self.heads} heads are more than the {model.heads} of a layer")
        return tuple(claim_head(model, layer=layer, head=head) for layer in self.layers for head in range(self.heads))


@settings_class
class LabelHeadSettings(EncoderHeadSettings):
    """An encoder head whose queries and keys are made from labels, and its values from the tokens.

    Needs tags on the source side, or dependencies with `labels: deprel`.
    """

    labels: Literal["pos", "upos", "xpos", "deprel"] = "pos"
    """Labels of the words; pos: XPOS (Czech: the whole positional tag) if the training data have any, else UPOS."""
    layer: Index = 0

    ASSUMED: ClassVar = {
        "scale of labels": "Embeddings of labels are multiplied by the root of the width, as those of words are.",
        "no positions of labels": "Positions are added to words alone.",
        "label of `</s>`": "It is a token without annotation, so it has a label of its own.",
    }

    @property
    def needs(self) -> Mapping[str, tuple[str, ...]]:
        """Trees for dependency labels, tags for the other labels."""
        return {"source": ("trees" if self.labels == "deprel" else "pos_tags",)}


@settings_class
class FactorsSettings(ComponentSettings):
    """Embeddings of columns of the source's annotation (factors), as a part of token embeddings or added to them.

    Needs what the columns come with: tags (lemma, upos, xpos, feats), dependencies (deprel) or ccg.
    """

    bases = ("transformer", "recurrent")

    columns: dict[str, Width]
    """The columns, each with the width of its embeddings: lemma, upos, xpos, deprel, ccg, feats, one of the features in
    this (feats.Number), or a column by a certain annotator of the data set (ANNOTATOR/COLUMN)."""
    combine: Literal["concatenate", "add"] = "concatenate"
    """concatenate: they are the last dimensions of token embeddings. add: their product with a matrix that is zero at
    first is added, so that a model trained without factors can go on with them (`start_from`)."""
    most: Count = 10_000
    """Labels of a column with an embedding of their own, the most frequent ones; all others are unknown."""
    random: bool = False
    """A control: the labels of words are drawn at random, from as many, by the numbers of sentence and word."""

    def __post_init__(self) -> None:
        if not self.columns:
            raise ValueError("columns must name one at least, with its width: {upos: 10}")
        for feature in self.needs["source"]:
            feature_named(feature)

    @property
    def neutral_at_first(self) -> bool:
        """Whether they are added."""
        return self.combine == "add"

    @property
    def needs(self) -> Mapping[str, tuple[str, ...]]:
        """The features that have the columns."""
        features = {label: name for name, feature in FEATURES.items() for label in feature.labels}
        return {"source": tuple(dict.fromkeys(features.get(column, column) for column in self.columns))}

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Claim the last dimensions to concatenate; raise a `ValueError` if they leave none for the token."""
        width = sum(self.columns.values())
        if width >= model.width and self.combine == "concatenate":
            raise ValueError(f"width {width} leaves nothing of a token's embedding of width {model.width}")
        return ("source.embedding.last",) if self.combine == "concatenate" else ()


@settings_class
class SennrichHaddowSettings(ComponentSettings):
    """Token embeddings whose last dimensions embed the token's dependency label (S&H in bugliarello2020).

    Needs dependencies on the source side.
    """

    bases = FactorsSettings.bases
    needs = SOURCE_TREES

    width: Width = 10
    """Dimensions of the dependency label."""

    ASSUMED: ClassVar = {"label of `</s>`": "It is a token without annotation, so it has a label of its own."}

    @property
    def factors(self) -> FactorsSettings:
        """The same as factors."""
        return FactorsSettings(columns={"deprel": self.width})

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Claim the same as factors."""
        return self.factors.claims(model)


@settings_class
class PairLabelsSettings(ComponentSettings):
    """Base of the settings of components with a label per pair of tokens, whose vectors are added to keys."""

    @property
    def label_count(self) -> int:
        """The number of labels with a learned vector."""
        raise NotImplementedError


@settings_class
class RelativePositionsSettings(PairLabelsSettings):
    """Relative positions in place of the sinusoids of encoder and decoder (Shaw et al. 2018; pham2018, section 5.2)."""

    maximum: Distance = 20
    """Longest distance with its own label, in tokens to either side; longer ones share a label."""

    ASSUMED: ClassVar = {
        "the decoder is relative, too": "As in the released code; the thesis describes the encoder's attention."
    }

    @property
    def label_count(self) -> int:
        """Distances to both sides, 0, and the label of longer ones."""
        return 2 * self.maximum + 2


@settings_class
class TreeLabelsSettings(PairLabelsSettings):
    """Base of the settings of components whose labels come from dependency trees."""

    needs = SOURCE_TREES
    reads_labels = False

    replaces_positions: bool = True
    """Whether the labels replace the encoder's sinusoids."""
    maximum: Distance
    """Largest number with its own label; larger ones share a label."""

    @property
    def neutral_at_first(self) -> bool:
        """Whether the sinusoids stay."""
        return not self.replaces_positions

    ASSUMED: ClassVar = {"label of `</s>`": "It stands in no tree, so pairs with it share a label of their own."}


@settings_class
class TreeDistanceSettings(TreeLabelsSettings):
    """Labels for distances in the source's dependency tree: the number of edges between two words.

    Needs dependencies on the source side.
    """

    maximum: Distance
    """Longest distance with its own label (5 and 20 in the thesis); longer ones share a label."""

    @property
    def label_count(self) -> int:
        """Distances from 0, the label of longer ones, and that of pairs with a token outside words."""
        return self.maximum + 3


@settings_class
class TreeTraversalSettings(TreeLabelsSettings):
    """Labels for paths through the source's dependency tree: the steps from one word to the other.

    Needs dependencies on the source side.
    """

    maximum: Distance = 10
    """Most steps of a path with its own label; longer paths share a label."""

    @property
    def label_count(self) -> int:
        """Paths up and down, those that begin with a sibling, "self", "far", and that of tokens outside words."""
        return 1 + self.maximum * (self.maximum + 1) // 2 + 2 * self.maximum + 3


@settings_class
class TargetTagSettings(ComponentSettings):
    """Base of the settings of components that predict tags of the target's words."""

    bases = ("transformer", "recurrent")
    neutral_at_first = True

    tags: Literal["ccg_tags", "dg_a_tags", "dg_b_tags", "random_tags"] = "ccg_tags"
    """The tags: CCG supertags, dependency supertags of two sorts, or random ones, a control."""
    weight: NonNegative = 1.0
    """Factor of the tag loss, a mean over tagged tokens, in the first epoch; 0: tags are not learned."""
    decay: Annotated[float, Range(above=0, most=1)] = 0.65
    """What the factor of the tag loss is multiplied by after each epoch; 1: it stays the same."""
    least: Fraction = 0.1
    """The tag loss ends when the product of all multiplications by `decay` is no longer above this."""

    ASSUMED: ClassVar = {
        "least": "The loss is 0 from epoch 7 on, by the equations: the factor is 0.116 in epoch 6, 0.075 in epoch 7. "
        "The thesis's text says that it falls below 0.1 at epoch 8.",
        "mean of the tag loss": "A mean over the tags of an update, as the loss of words is over words: the thesis "
        "writes both as sums.",
    }

    @property
    def needs(self) -> Mapping[str, tuple[str, ...]]:
        """The tags."""
        return {"target": (self.tags,)}

    @property
    def has_second_loss(self) -> bool:
        """Whether tags are learned."""
        return self.weight > 0

    @property
    def predicted_tags(self) -> str | None:
        """The tags, unless they are not learned."""
        return self.tags if self.weight else None


@settings_class
class TagAttentionSettings(TargetTagSettings):
    """Attention of the decoder to embeddings of tags, before the output layer (aycock2021, section 3.2.1).

    Needs the chosen tags on the target side.
    """

    width: Width = 128
    """Width of the embeddings of tags."""
    choice: Literal["soft", "hard", "gumbel"] = "soft"
    """soft: the mean of all tags' embeddings, weighted by their probabilities. hard: the embedding of the likeliest
    tag. gumbel: in training, the embedding of a sampled tag (straight-through Gumbel-softmax); else like hard."""
    temperature: Positive = 1.0
    """gumbel: temperature of the softmax whose gradient is used."""


@settings_class
class MultitaskSettings(TargetTagSettings):
    """Prediction of tags from the decoder's states, only as a second loss (aycock2021, section 3.2.2).

    Needs the chosen tags on the target side.
    """

    hidden: Width = 256
    """Width of the hidden layer."""


@settings_class
class HeadSelectionSettings(ComponentSettings):
    """A distribution over the heads of every source token, learned from translation alone."""

    bases = ("recurrent",)
    trees = ("induced",)
    neutral_at_first = True

    weights: Literal["tree", "flat"] = "tree"
    """tree: marginals over all dependency trees. flat: a softmax over the heads of each token."""
    annotations: Literal["shared", "separate", "one_set"] = "shared"
    """Where the heads enter. shared: the decoder, by its attention over the source. separate: the decoder, by a second
    attention. one_set: the encoder's annotations."""
    hard: bool = False
    """Use the likeliest head alone, with straight-through gradients."""

    ASSUMED: ClassVar = {
        "bias of the gate": "Equation 17 has none. With it, a gate can be open or closed whatever the state is.",
        "`</s>` in trees": "It is no word, so it is nobody's head and has none.",
    }

    @property
    def gates_output(self) -> bool:
        """Whether the gate is in the decoder; with one set of annotations it is in the encoder."""
        return self.annotations != "one_set"

    def parameter_count(self, model: RecurrentSettings) -> int:
        """Count the matrices and the gate's bias."""
        squares = 4 + (self.annotations != "one_set") + (self.annotations == "separate")
        return squares * model.width**2 + model.width


@settings_class
class TreeHeadSettings(EncoderHeadSettings):
    """An encoder head that attends by the marginals of dependency trees, learned from translation alone."""

    trees = ("induced",)

    layer: Index = 0


COMPONENTS = Registry[ComponentSettings](
    {
        "depparse": (DepParseSettings, "parser_heads.DepParse"),
        "diagonalparse": (DiagonalParseSettings, "parser_heads.DiagonalParse"),
        "factors": (FactorsSettings, "label_inputs.Factors"),
        "head_selection": (HeadSelectionSettings, "head_selection.HeadSelection"),
        "label_head": (LabelHeadSettings, "label_inputs.LabelHead"),
        "multitask": (MultitaskSettings, "target_tags.Multitask"),
        "pascal": (PascalSettings, "pascal.Pascal"),
        "sennrich_haddow": (SennrichHaddowSettings, "label_inputs.SennrichHaddow"),
        "sisa": (SisaSettings, "parser_heads.Sisa"),
        "relative_positions": (RelativePositionsSettings, "pair_labels.RelativePositions"),
        "tag_attention": (TagAttentionSettings, "target_tags.TagAttention"),
        "tree_distance": (TreeDistanceSettings, "pair_labels.TreeDistance"),
        "tree_head": (TreeHeadSettings, "head_selection.TreeHead"),
        "tree_traversal": (TreeTraversalSettings, "pair_labels.TreeTraversal"),
    },
    noun="component",
    key="kind",
    package="nmtcore.model.components",
    own_folder="components",
    base=ComponentSettings,
)

RESERVED_NAMES = ("translation", "language_code", "attention_maps", "encoder", "cross")
"""Names that no component can have: those of the translation's loss, of what puts a language code before sources, of
the attention observer, and of the attention weights that it records."""


def parser_of(components: Mapping[str, ComponentSettings]) -> str | None:
    """Return the name of the component that predicts a system's trees, the first that can; None if none can."""
    return next((name for name, settings in components.items() if settings.parses), None)


def check_trees(trees: Trees | None, components: Mapping[str, ComponentSettings], *, where: str) -> None:
    """Raise `UserError` if the trees of a system cannot be compared with what its key `trees` says."""
    parser = parser_of(components)
    if trees is None or (parser is not None and trees in components[parser].trees):
        return
    if parser is None:
        raise UserError(f"{where}: trees: no component of the system predicts trees: write `trees: null`.")
    raise UserError(
        f"{where}: trees: the trees of {parser} cannot be '{trees}', only {joined_by_or(components[parser].trees)}."
    )


def check_composition(components: Mapping[str, ComponentSettings], base: str, model: Any, *, where: str) -> None:
    """Raise a `UserError` if a component does not fit the base or the other components.

    Two components must not claim the same part of the model, and none may claim a part that the model lacks.
    """
    owner: dict[str, str] = {}
    for name, component in components.items():
        if base not in component.bases:
            raise UserError(
                f"{where}: {name} needs the base {joined_by_or(component.bases)}, but the system's is {base}."
            )
        try:
            claims = component.claims(model)
        except ValueError as error:
            raise UserError(f"{where}: {name}: {error}.") from error
        for part in claims:
            if part in owner:
                counted = " Layers and heads count from 0." if ".head." in part else ""
                raise UserError(f"{where}: {owner[part]} and {name} both claim {part}; only one can have it.{counted}")
            owner[part] = name
