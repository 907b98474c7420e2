"""Catalogues from real MCP servers: started or connected to, asked for their tools, and stopped."""

from yb_eval_agent_routing.capturing.clients import Configured, read_configuration
from yb_eval_agent_routing.capturing.servers import CaptureError, Http, Source, Stdio, capture, capture_all

__all__ = [
    "CaptureError", "Configured", "Http", "Source", "Stdio", "capture", "capture_all", "read_configuration",
]  # fmt: skip
