"""How long a server asks to be left alone."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime


def retry_after(text: str | None, now: float) -> float | None:
    """Seconds to wait that a Retry-After header asks for: a number of them or a date (RFC 9110, section 10.2.3).

    `now` is the time since the epoch, in seconds. `None` for a header that is not there, or means nothing.
    """
    text = (text or "").strip()
    if text.isascii() and text.isdecimal() and len(text) < 12:
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, date.timestamp() - now)
