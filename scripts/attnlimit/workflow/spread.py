"""Layers for an experiment that takes some of those studied. Standard library only."""


def chosen_layers(wanted: int | list[int], layers: list[int]) -> list[int]:
    """A list as it is; a number of layers spread evenly from the first of those studied to the last, all if fewer."""
    if isinstance(wanted, list):
        return wanted
    ordered, last = sorted(layers), len(layers) - 1
    if wanted == 1:
        return ordered[:1]
    return ordered if wanted > last else [ordered[place * last // (wanted - 1)] for place in range(wanted)]
