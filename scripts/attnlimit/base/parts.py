"""What both the plan and the jobs must know: how work is cut, which changes no number, and a few numbers.

Standard library only: the host that plans the jobs may have nothing else.
"""

FEWEST_POINTS = 3  # sizes, or budgets, for a power law
PUBLISHED_RANDOM = 50  # keys from outside the window, in the published experiment
TOKENS_AT_ONCE = 51_200  # of samples, projected: all of the default run; more would take gigabytes
REPLICATES_AT_ONCE = 4  # of a block that measure_propagation holds in memory


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
