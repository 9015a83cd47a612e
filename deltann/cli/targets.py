"""``deltann targets``: what can be compiled for, by name."""

from __future__ import annotations

import typer

from deltann.cli.home import Json, print_json
from deltann.fleet.device import DeviceInfo, describe_device
from deltann.fleet.fit import lacks
from deltann.fleet.opencl import with_opencl
from deltann.targets import TARGETS, NamedTarget

_SHOWN = 3


def targets(json: Json = False) -> None:
    """List the named targets, and whether their modules can run on this machine."""
    here = with_opencl(describe_device())
    if json:
        print_json([_row(target, here) for target in TARGETS.values()])
        return
    typer.echo(f"{'NAME':16} {'RUNTIME':8} {'HERE':42} ABOUT")
    for target in TARGETS.values():
        needs = target.needs
        typer.echo(f"{target.name:16} {needs.arch or needs.runtime:8} {_fit(target, here):42} {target.about}")
    typer.echo("Also: tags of TVM, such as arm/rk3399, and TVM's own mappings (docs/targets.md).")


def _row(target: NamedTarget, here: DeviceInfo) -> dict[str, object]:
    return {
        "name": target.name,
        "about": target.about,
        "tvm": target.tvm,
        "needs": target.needs.model_dump(mode="json"),
        "lacking_here": lacks(target.needs, here),
    }


def _fit(target: NamedTarget, here: DeviceInfo) -> str:
    missing = lacks(target.needs, here)
    if missing:
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        return f"lacks {', '.join(missing[:_SHOWN])}{more}"
    return "yes"
