"""How an experiment on settings goes: at which sizes, how often, from which seed, on which device.

An experiment is a list of settings and one function, errors_of(setting, protocol), that returns all that is kept of a
setting in the layout of `layout.setting_errors`.
"""

from typing import NamedTuple

from attnlimit.attention.draws import Draw, planned_draws


class Protocol(NamedTuple):
    sizes: list[int]  # n, increasing
    replicates: int  # a multiple of group
    group: int  # replicates whose mean difference is kept
    nested: bool  # all sizes from one draw
    seed: int
    device: str
    dtype: str  # of scores and outputs

    @classmethod
    def of(cls, section: dict, seed: int, device: str) -> "Protocol":
        """From the config section of an experiment, which has more keys than these."""
        own = {key: section[key] for key in ("sizes", "replicates", "group", "nested", "dtype")}
        return cls(**own, seed=seed, device=device)

    def draws(self) -> list[Draw]:
        """The draws of one replicate."""
        return planned_draws(self.sizes, self.nested)

    def facts(self) -> dict:
        """What a store says of it; sizes and replicates are its coordinates."""
        return {name: getattr(self, name) for name in ("seed", "nested", "dtype", "device")}
