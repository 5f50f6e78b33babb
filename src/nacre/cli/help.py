"""How --help looks: flags take no value, arguments are capitals, commands follow the road."""

from __future__ import annotations

from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup

ROAD = ("demo", "schema", "plan", "fit", "sample", "evaluate", "publish")


def _tidied(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if isinstance(parameter, TyperArgument):
            parameter.metavar = parameter.metavar or str(parameter.name).upper()
        elif getattr(parameter, "is_flag", False):
            parameter.metavar = ""  # else typer shows <bool>, as if it took a value
    return parameters


class Command(TyperCommand):
    """A command with plain usage and flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        """See `click.Command`."""
        return _tidied(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """See `click.Command`; what must be given stands there without braces."""
        return [
            piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)
        ]


class Group(TyperGroup):
    """Commands in the order in which one uses them."""

    def get_params(self, ctx: Any) -> list[Any]:
        """See `click.Command`."""
        return _tidied(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """See `click.Group`."""
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: ROAD.index(name) if name in ROAD else len(ROAD))
