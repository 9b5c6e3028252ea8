"""Histograms of attention weights by layer, or by head of a layer: data and chart (pham2018, 6.1 and 6.2)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmtcore.errors import UserError
from nmtcore.evaluation.sharpness import count_sharpness
from nmtcore.layout import Layout

if TYPE_CHECKING:
    import altair

LOWEST_BIN = 1
"""The first bin that is drawn: that from 0 has nearly all weights, and would hide the others."""

CLAIMED, UNCLAIMED = "currentColor", "#999999"
"""Colours of heads, or of layers with heads, that a component of the system computes or trains, and of the others."""


def sharpness_entries(attention: Sequence[Path], layout: Layout) -> list[dict[str, Any]]:
    """Count the weights of each system over its seeds.

    Args:
        attention: `{dataset}/{system}/seed{seed}/attention/{split}.parquet` of every run, of one data set and scale.
            Seeds of a system are counted together.
        layout: names the data set, system and seed of each path.

    Returns:
        One entry per system: its names, and the result of `count_sharpness`.

    Raises:
        UserError: for the reasons of `count_sharpness`.
    """
    files: dict[tuple[str, ...], dict[int, Path]] = {}
    for path in attention:
        names = layout.names(path, "attention")
        key = tuple(names[name] for name in ("scale", "dataset", "system", "split"))
        files.setdefault(key, {})[int(names["seed"])] = path
    return [
        {
            "scale": scale,
            "dataset": dataset,
            "system": system,
            "split": split,
            "seeds": sorted(paths),
            **count_sharpness([paths[seed] for seed in sorted(paths)]),
        }
        for (scale, dataset, system, split), paths in files.items()
    ]


def sharpness_bars(
    entries: Sequence[Mapping[str, Any]],
    *,
    layer: int | None = None,
    claimed: Mapping[str, Collection[str]],
    lowest_bin: int = LOWEST_BIN,
) -> Iterator[dict[str, Any]]:
    """Yield the bars of all panels: their system, layer and head (None for all), bin and percentage of all weights.

    Args:
        entries: results of `sharpness_entries`.
        layer: the layer of which to show each head, from 0; None for all layers, each with its heads together.
        claimed: the heads that components of a system compute or train, as "LAYER.HEAD", by system (`claimed_heads`).
        lowest_bin: bins below it are left out.

    Raises:
        UserError: if a system has no such layer.
    """
    for entry in entries:
        own = claimed.get(entry["system"], ())
        if layer is None:
            panels = {(int(name), None): counts for name, counts in entry["layers"].items()}
        else:
            heads = {tuple(map(int, name.split("."))): counts for name, counts in entry["heads"].items()}
            panels = {name: counts for name, counts in heads.items() if name[0] == layer}
            if not panels:
                last = max(int(name) for name in entry["layers"])
                raise UserError(f"The encoder of {entry['system']} has no layer {layer}: its layers are 0 to {last}.")
        for (number, head), counts in panels.items():
            names = [name for name in own if name.split(".")[0] == str(number)]
            is_claimed = bool(names) if head is None else f"{number}.{head}" in own
            total = sum(counts["counts"])
            bins = zip(entry["edges"][:-1], entry["edges"][1:], counts["counts"], strict=True)
            for low, high, count in list(bins)[lowest_bin:]:
                yield {
                    "system": entry["system"],
                    "layer": number,
                    "head": head,
                    "low": low,
                    "high": high,
                    "share": 100 * count / total,
                    "claimed": is_claimed,
                }


def sharpness_chart(bars: Sequence[Mapping[str, Any]], *, by_head: bool) -> "altair.FacetChart":
    """Draw `sharpness_bars`, at least one; those of claimed heads are black.

    A row has the panels of a layer, one per system, or `by_head` those of a system, one per head.
    """
    import altair as alt

    systems = list(dict.fromkeys(bar["system"] for bar in bars))
    labels = [{**bar, "panel": f"layer {bar['layer']}" + (f", head {bar['head']}" if by_head else "")} for bar in bars]
    panels = list(dict.fromkeys(bar["panel"] for bar in labels))
    axis = alt.Axis(values=[0.1, 0.4, 0.7, 1.0], format=".1f")
    chart = (
        alt.Chart(alt.InlineData(values=labels))
        .mark_bar()
        .encode(
            x=alt.X("low:Q", title="weight", axis=axis, scale=alt.Scale(domain=[bars[0]["low"], 1.0], nice=False)),
            x2="high:Q",
            y=alt.Y("share:Q", title="%", axis=alt.Axis(tickCount=2)),
            y2=alt.Y2Datum(0),
            color=alt.condition("datum.claimed", alt.value(CLAIMED), alt.value(UNCLAIMED)),
        )
        .properties(width=max(36, 230 // max(len(systems), 1) - 10), height=36)
    )
    header = alt.Header(title=None)
    row_header = alt.Header(title=None, labelAngle=0, labelAlign="left")
    system = {"shorthand": "system:N", "sort": systems}
    panel = {"shorthand": "panel:N", "sort": panels}
    rows, columns = (system, panel) if by_head else (panel, system)
    return chart.facet(row=alt.Row(**rows, header=row_header), column=alt.Column(**columns, header=header), spacing=8)
