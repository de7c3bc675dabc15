"""Rates from samples drawn without replacement: what to say of them, once for all pages."""

WITHOUT_REPLACEMENT = (
    "samples are drawn without replacement: attention over the population is then not the exact limit of such draws, "
    "and slopes steepen towards it, as errors shrink by about √(1 − n/N), N being the size of the population"
)


def without_replacement(attrs: dict) -> bool:
    """Whether a store of errors or rates says so; that of a simulation, drawn from a law, says nothing."""
    return not attrs.get("replacement", True)
