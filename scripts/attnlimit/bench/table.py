"""The benchmark's records as a table for people."""

from collections.abc import Iterable

from attnlimit.workflow.amounts import table

COLUMNS = {
    "seconds": ("seconds", "{:.3g}"),
    "speedup_over_published": ("x published", "{:.1f}"),
    "speedup_over_fused": ("x fused", "{:.2f}"),
    "error_mean": ("error mean", "{:.1e}"),
    "error_cov": ("error cov", "{:.1e}"),
    "peak_mb": ("peak MB", "{:.0f}"),
    "fraction_of_roofline": ("of roofline", "{:.2f}"),
    "exponent": ("exponent", "{:.2f}"),
}


def bench_table(records: list[dict], rounds: int, remarks: Iterable[str] = ()) -> str:
    head = ["case", "contender", *(title for title, _ in COLUMNS.values())]
    lines = table(head, *([record["case"], record["contender"], *cells(record)] for record in records))
    notes = [
        f"processor time of one thread; medians and quartiles of {rounds} rounds; ratios are within a round",
        "fused and ours start from a pool projected once; published projects at each size, one head at a time",
        "roofline: one pass over all pairs at the speed of torch's products or exponentials, measured between the runs",
        "the largest limits: seconds of one group of blocks of queries, times the number of groups",
    ]
    return "\n".join([lines, *notes, *remarks])


def cells(record: dict) -> list[str]:
    return [cell(form, record[name], record.get(f"{name}_quartiles")) for name, (_, form) in COLUMNS.items()]


def cell(form: str, number: float | None, quartiles: list[float] | None) -> str:
    """A number and its quartiles, as far as they are there: 6.1 (5.9-6.4)."""
    if number is None:
        return ""
    return form.format(number) + (f" ({'-'.join(map(form.format, quartiles))})" if quartiles else "")
