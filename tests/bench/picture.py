# SPDX-License-Identifier: Apache-2.0
"""Pictures of measurements, as SVG: the same figures give the same file. For the programs beside this one; needs
python3-matplotlib, which only those need who draw."""
import importlib.util
import sys
from pathlib import Path

HEIGHT_OF_A_BAR = 0.22  # inches


def need_matplotlib():
    if importlib.util.find_spec("matplotlib") is None:
        sys.exit("pictures need matplotlib: apt-get install python3-matplotlib")


def pyplot():
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "heddle"
    from matplotlib import pyplot as plots
    return plots


def save(figure, file):
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})
    file = Path(file)
    file.write_text("".join(line.rstrip() + "\n" for line in file.read_text().splitlines()))


def bars(file, labels, panels, form="{:.0f}"):
    """One panel beside the other, each of bars from top to bottom: labels stand left of them, panels are dicts of `title`,
    `log`, and `series`: by name (least, middle, most) for each label. Each bar says its middle and has a line from the
    least to the most."""
    need_matplotlib()
    several = max(len(panel["series"]) for panel in panels)
    height = (HEIGHT_OF_A_BAR * several + 0.12) * len(labels) + (1.1 if several > 1 else 0.8)
    figure, axes = pyplot().subplots(1, len(panels), figsize=(9, height), sharey=True, squeeze=False)
    for axis, panel in zip(axes[0], panels):
        most = max(value[2] for values in panel["series"].values() for value in values)
        for number, (name, values) in enumerate(panel["series"].items()):
            thick = 0.8 / several
            at = [place - 0.4 + thick * (number + 0.5) for place in range(len(labels))]
            middles = [value[1] for value in values]
            spread = [[value[1] - value[0] for value in values], [value[2] - value[1] for value in values]]
            axis.barh(at, middles, thick * 0.9, color=f"C{number}", xerr=spread, ecolor="0.3", capsize=2, label=name)
            for place, value in zip(at, values):
                axis.text(value[2] * 1.1 if panel.get("log") else value[2] + most * 0.02, place, form.format(value[1]), va="center",
                          fontsize=8)
        if panel.get("log"):
            least = min(value[0] for values in panel["series"].values() for value in values)
            axis.set_xscale("log")
            axis.set_xlim(least / 4, most * 4)
            axis.xaxis.set_major_formatter("{x:g}")
        else:
            axis.set_xlim(0, most * 1.15)
        axis.set_title(panel["title"], fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
        if len(panel["series"]) > 1:
            axis.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncol=len(panel["series"]), frameon=False)
    axes[0][0].set_yticks(range(len(labels)), labels, fontsize=9)
    axes[0][0].invert_yaxis()
    save(figure, file)
