"""The benchmark's records as a table for people."""

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


def table(records: list[dict], flops: float, exponentials: float, threads: int) -> str:
    head = ["case", "contender", *(title for title, _ in COLUMNS.values())]
    rows = [[record["case"], record["contender"], *cells(record)] for record in records]
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in (head, *rows)
    ]
    speed = f"{flops / 1e9:.0f} Gflop/s in matrix products, {exponentials / 1e9:.2f} G exponentials/s"
    notes = [
        f"roofline of this machine with {threads} threads: {speed}",
        "fused and ours start from a pool projected once; published projects at each size and goes head by head",
    ]
    return "\n".join([*lines, *notes])


def cells(record: dict) -> list[str]:
    return ["" if record[name] is None else form.format(record[name]) for name, (_, form) in COLUMNS.items()]
