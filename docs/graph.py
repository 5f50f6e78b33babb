"""The rooms of the house and who imports whom, drawn into docs/house.md: `make graph`."""

from __future__ import annotations

import graphlib
import re
from pathlib import Path

import grimp

PAGE = Path(__file__).parent / "house.md"
FRAME = re.compile(r"(<!-- graph -->\n).*?(<!-- /graph -->)", re.DOTALL)
EVERYWHERE = {
    "errors",
    "partial",
    "registry",
    "version",
    "__main__",
}  # everybody's, or nobody's: not drawn


def edges() -> dict[str, set[str]]:
    """Each room and the rooms that it imports, directly."""
    graph = grimp.build_graph("nacre")
    found: dict[str, set[str]] = {}
    for module in graph.modules:
        room = _room(module)
        for other in graph.find_modules_directly_imported_by(module):
            if room and _room(other) and room != _room(other):
                found.setdefault(room, set()).add(_room(other))
                found.setdefault(_room(other), set())
    return found


def _room(module: str) -> str:
    name = module.split(".")[1] if "." in module else ""
    return "" if name in EVERYWHERE else name


def reduced(found: dict[str, set[str]]) -> dict[str, set[str]]:
    """Without the edges that follow from others; graphlib.CycleError if there is a circle."""
    below: dict[str, set[str]] = {}
    for room in graphlib.TopologicalSorter(found).static_order():
        below[room] = set().union(*(below[other] | {other} for other in found[room]), set())
    return {
        room: {a for a in others if not any(a in below[b] for b in others - {a})}
        for room, others in found.items()
    }


def floors(found: dict[str, set[str]]) -> dict[str, int]:
    """How high above the ground each room is: one more than the highest that it imports."""
    height: dict[str, int] = {}
    for room in graphlib.TopologicalSorter(found).static_order():
        height[room] = max((height[other] + 1 for other in found[room]), default=0)
    return height


def listed() -> str:
    """The arrows in words, a line for each room."""
    arrows = sorted(reduced(edges()).items())
    lines = [f"- `{room}`: {', '.join(sorted(others)) or 'nothing'}" for room, others in arrows]
    return "\n".join([*lines, ""])


def draw(path: Path) -> None:
    """The picture: rooms on their floors, an arrow for each import."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "nacre", "font.size": 9}
    from matplotlib import pyplot

    arrows = reduced(edges())
    height = floors(arrows)
    place: dict[str, tuple[float, float]] = {}
    for floor in range(max(height.values()) + 1):
        rooms = sorted(room for room in height if height[room] == floor)
        # Each room above the middle of what it imports, as far as there is room.
        middle = {r: sum(place[o][0] for o in arrows[r]) / max(len(arrows[r]), 1) for r in rooms}
        rooms.sort(key=lambda room: (middle[room], room))
        for number, room in enumerate(rooms):
            place[room] = (1.7 * (number - (len(rooms) - 1) / 2), floor)
    figure, axes = pyplot.subplots(figsize=(8, 7))
    for room, others in arrows.items():
        for other in others:
            style = {"arrowstyle": "->", "color": "#888", "shrinkA": 12, "shrinkB": 12}
            axes.annotate("", place[other], place[room], arrowprops=style)
    box = {"boxstyle": "round", "facecolor": "#e6f2f1", "edgecolor": "#2a7f7a"}
    for room, (x, y) in place.items():
        axes.text(x, y, room, ha="center", va="center", bbox=box)
    wide = max(abs(x) for x, _ in place.values()) + 1
    axes.set(xlim=(-wide, wide), ylim=(-0.5, max(height.values()) + 0.5))
    axes.axis("off")
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})


def page() -> str:
    """The page with the arrows of today."""
    return FRAME.sub(lambda m: m[1] + listed() + m[2], PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    draw(PAGE.parent / "images" / "rooms.svg")
