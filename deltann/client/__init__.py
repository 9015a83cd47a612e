"""Talking to a gateway over gRPC."""

from deltann.client.artifacts import GatewayStore
from deltann.client.conversions import ConversionStatus
from deltann.client.credentials import Credentials
from deltann.client.gateway import GatewayClient

__all__ = ["ConversionStatus", "Credentials", "GatewayClient", "GatewayStore"]
