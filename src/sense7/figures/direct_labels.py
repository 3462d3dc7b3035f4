"""Names beside what they name, in place of a legend: at the ends of lines, above the parts of a bar."""

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.text import Annotation
from matplotlib.transforms import IdentityTransform, ScaledTranslation
from scipy.optimize import isotonic_regression

from sense7.figures.narrow import legend_above

__all__ = ["name_lines", "name_parts", "spread_names"]

_MOST = 8
"""So many names fit below each other; more are explained by a legend."""

_OF_LINE, _OF_PART = 16, 11
"""Letters in one line of a name."""

_GAP = 0.06  # inches between two names
_AWAY = 0.16  # inches from the panel to its names


class _Name(Annotation):
    """A name that may be moved along one axis, off the names beside it; a stroke leads to what it names."""

    along = 1


def name_lines(axes) -> None:
    """Write the names of lines and areas to the right of a panel, each led to where its own ends.

    Above the panels, as a legend, if there are too many; nothing where there is only one.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        The panel, whose lines, points with errors and areas have labels.
    """
    handles, names = axes.get_legend_handles_labels()
    if len(names) > _MOST:
        legend_above(axes.figure)
    elif len(names) > 1:
        away = ScaledTranslation(_AWAY, 0, axes.figure.dpi_scale_trans)
        for handle, name in zip(handles, names, strict=True):
            points, color = _points(handle)
            if len(points):  # what has no point ends nowhere
                x, y = points[points[:, 0] == points[:, 0].max()].mean(axis=0)
                _add(axes, name, (x, y), (1, y), axes.get_yaxis_transform() + away, color, _OF_LINE, 1)


def _points(handle) -> tuple[np.ndarray, object]:
    """Points of a line, of points with errors, or of the edge of an area, and their color."""
    if isinstance(handle, PolyCollection):
        points = np.vstack([np.empty((0, 2)), *(path.vertices for path in handle.get_paths())])
        color = handle.get_facecolor()[0]
    else:
        line = handle[0] if isinstance(handle, ErrorbarContainer) else handle
        points, color = line.get_xydata(), line.get_color()
    return points[np.isfinite(points).all(axis=1)], color


def name_parts(axes, parts: Sequence[tuple[str, float, str]], height: float) -> None:
    """Write names above a panel of stacked bars, each led to its part of the uppermost bar.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        The panel.
    parts : sequence of tuple
        For each part its name, as it is to be drawn, its middle (in the data's units), and its color.
    height : float
        Where the uppermost bar ends, in the data's units.
    """
    away = ScaledTranslation(0, _AWAY, axes.figure.dpi_scale_trans)
    for name, x, color in parts:
        _add(axes, name, (x, height), (x, 1), axes.get_xaxis_transform() + away, color, _OF_PART, 0)


def _add(axes, name: str, end: tuple, place: tuple, transform, color: str, longest: int, along: int) -> None:
    label = _Name(
        textwrap.fill(name.strip(), longest),
        end,
        xytext=place,
        textcoords=transform,
        ha="left" if along else "center",
        va="center" if along else "bottom",
        linespacing=1.1,
        annotation_clip=False,
        arrowprops={"arrowstyle": "-", "color": color, "linewidth": 1.2, "shrinkA": 2, "shrinkB": 3}
        | {"relpos": (0, 0.5) if along else (0.5, 0)},
    )
    label.along = along
    label.set_transform(IdentityTransform())
    axes.add_artist(label)
    label.set_clip_on(False)  # it stands beside the panel, and the layout has to make room for it


def spread_names(drawing: MatplotlibFigure) -> None:
    """Move the names of a drawing that is laid out, as little as possible, so that none covers another."""
    gap = _GAP * drawing.dpi
    for axes in drawing.axes:
        for along in (0, 1):
            names = [artist for artist in axes.texts if isinstance(artist, _Name) and artist.along == along]
            if not names:
                continue
            ends = axes.transData.transform([name.xy for name in names])[:, along]
            order = np.argsort(ends, kind="stable")
            sizes = np.array([_size(names[place], along) for place in order]) + gap
            limits = (0, drawing.bbox.width) if along == 0 else (axes.bbox.y0, axes.bbox.y1)
            for place, centre in zip(order, _apart(ends[order], sizes, limits), strict=True):
                moved = axes.transData.inverted().transform([centre, centre])[along]
                names[place].xyann = (moved, 1) if along == 0 else (1, moved)


def _size(name: _Name, along: int) -> float:
    box = super(Annotation, name).get_window_extent()
    return box.height if along else box.width


def _apart(centres: np.ndarray, sizes: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    """Centres of intervals of given sizes that do not overlap, nearest to those wished for, within the limits.

    Examples
    --------
    >>> _apart(np.array([1.0, 1.0, 9.0]), np.array([2.0, 2.0, 2.0]), (0, 10)).tolist()
    [1.0, 3.0, 9.0]
    """
    before = np.cumsum(sizes) - sizes / 2
    room = max(0.0, limits[1] - limits[0] - sizes.sum())
    return limits[0] + np.clip(isotonic_regression(centres - before - limits[0]).x, 0, room) + before
