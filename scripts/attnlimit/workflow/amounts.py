"""Numbers of things and of seconds, in words for people, and their tables."""

from collections.abc import Sequence


def duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:,.0f} h"


def about(seconds: float) -> str:
    """An estimate, rounded to its accuracy."""
    if seconds < 10:
        return "a few seconds left"
    return f"about {duration(round(seconds, -1) if seconds < 95 else max(seconds, 100))} left"


def table(*rows: Sequence[str]) -> str:
    """Lines of a table, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
