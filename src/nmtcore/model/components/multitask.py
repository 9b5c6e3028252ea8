"""Prediction of tags from the decoder's states, only as a second loss (aycock2021, section 3.2.2)."""

from torch import Tensor, nn

from nmtcore.config.bases import BaseSettings
from nmtcore.config.components.target_tags import MultitaskSettings
from nmtcore.model.components.base import Context, LabelVocabularies
from nmtcore.model.components.target_tags import TargetTags


class Multitask(TargetTags):
    r"""Predicts tags from the decoder's states x by a layer of their own (aycock2021, equations 3.24 and 3.25).

    .. math::

        p(t \mid y_{<i}, x) = \operatorname{softmax}(W_2 \tanh (W_1 x + b_1))

    Translation does without it.
    """

    def __init__(
        self,
        settings: MultitaskSettings,
        *,
        name: str,
        model: BaseSettings,
        labels: LabelVocabularies | None = None,
    ) -> None:
        super().__init__(settings, name=name, model=model, labels=labels)
        self.hidden = nn.Linear(model.width, settings.hidden)
        self.scores = nn.Linear(settings.hidden, len(self.tag_names), bias=False)

    def read_output(self, states_ND: Tensor, context: Context) -> None:
        """Score the tags."""
        context.notes[self.name] = self.scores(self.hidden(states_ND).tanh())
