"""Which role each method needs: the one place where that is decided."""

from __future__ import annotations

from deltann_gateway.tokens import Role

_ARTIFACTS = "/deltann.v1.ArtifactService/"
_CONVERSIONS = "/deltann.v1.ConversionService/"
_FLEET = "/deltann.v1.FleetService/"
_SWEEPS = "/deltann.v1.SweepService/"
_HEALTH = "/grpc.health.v1.Health/"

ROLES: dict[str, Role | None] = {
    _ARTIFACTS + "ArtifactExists": Role.READ,
    _ARTIFACTS + "DownloadArtifact": Role.READ,
    _ARTIFACTS + "QueryUpload": Role.SUBMIT,
    _ARTIFACTS + "UploadArtifact": Role.SUBMIT,
    _CONVERSIONS + "SubmitConversion": Role.SUBMIT,
    _CONVERSIONS + "GetConversion": Role.READ,
    _CONVERSIONS + "WatchConversion": Role.READ,
    _CONVERSIONS + "FetchConversion": Role.READ,
    _FLEET + "GetFleet": Role.READ,
    _FLEET + "WatchFleet": Role.READ,
    _SWEEPS + "SubmitSweep": Role.SUBMIT,
    _SWEEPS + "GetSweep": Role.READ,
    _SWEEPS + "ListSweeps": Role.READ,
    _SWEEPS + "WatchSweep": Role.READ,
    _SWEEPS + "CancelSweep": Role.SUBMIT,
    _SWEEPS + "FetchReport": Role.READ,
    # Whoever restarts or balances gateways asks for their health, and has no token.
    _HEALTH + "Check": None,
    _HEALTH + "List": None,
    _HEALTH + "Watch": None,
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": Role.READ,
}
"""None for a method that needs no token. One that is not here needs an admin's."""


def role_of(method: str) -> Role | None:
    """The role that a method needs."""
    return ROLES.get(method, Role.ADMIN)
