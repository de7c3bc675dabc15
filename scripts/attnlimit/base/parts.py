"""How work is cut into jobs and blocks, cuts that change no number; and some of many layers. Standard library only."""


def cuts(total: int, block: int) -> list[slice]:
    """Fixed blocks of a population: they depend on nothing but its size, so a cut into jobs changes no number."""
    return [slice(start, min(start + block, total)) for start in range(0, total, block)]


def share(items: list, part: int, parts: int) -> list:
    """The items of job `part` of `parts`, in order and as even as can be."""
    return items[part * len(items) // parts : (part + 1) * len(items) // parts]


def chosen_layers(wanted: int | list[int], layers: list[int]) -> list[int]:
    """A list as it is; a number of layers spread evenly from the first of those studied to the last, all if fewer."""
    if isinstance(wanted, list):
        return wanted
    ordered, last = sorted(layers), len(layers) - 1
    if wanted == 1:
        return ordered[:1]
    return ordered if wanted > last else [ordered[place * last // (wanted - 1)] for place in range(wanted)]
