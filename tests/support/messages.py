"""What an error says."""

import pytest


def told(error: pytest.ExceptionInfo, *parts: str) -> None:
    """The message is one line and names what it must."""
    assert len(str(error.value).splitlines()) == 1
    for part in parts:
        assert part in str(error.value), f"{part} is not in: {error.value}"
