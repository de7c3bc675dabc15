"""How work is cut into jobs and blocks: cuts that change no number."""


def cuts(total: int, block: int) -> list[slice]:
    """Fixed blocks of a population: they depend on nothing but its size, so a cut into jobs changes no number."""
    return [slice(start, min(start + block, total)) for start in range(0, total, block)]


def share(items: list, part: int, parts: int) -> list:
    """The items of job `part` of `parts`, in order and as even as can be."""
    return items[part * len(items) // parts : (part + 1) * len(items) // parts]
