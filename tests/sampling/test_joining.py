"""A simulation in one part and in three: the same values, to the byte of its store."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.base.parts import share
from attnlimit.base.store import read
from attnlimit.questions.gaussian import measure as gaussian
from attnlimit.questions.sphere import measure as sphere
from attnlimit.sampling.joining import join_parts
from attnlimit.sampling.layout import measure_settings, stack
from attnlimit.sampling.protocol import Protocol
from support.stores import write

PROTOCOL = Protocol([16, 32, 64], replicates=4, group=1, nested=True, seed=5, device="cpu", dtype="float32")
TILTED = gaussian.tilted_settings(3, [0.3], [2], seed=5)
SETTINGS = {
    "gaussian": gaussian.horizon_settings([1, 3], 10, [0.3, 10], seed=5) + TILTED,
    "gaussian_published": gaussian.published_settings(3, 0.1, [1, 2, 50, 70], seed=5),
    "sphere": sphere.choose_settings(sphere.unit_heads(3, seed=5), 1.5, [0.5, 2, 10], [100]),
}


def measured(name: str, settings: list) -> xr.Dataset:
    if name != "gaussian_published":
        return measure_settings(settings, {"gaussian": gaussian, "sphere": sphere}[name].errors_of, PROTOCOL, name)
    both = ["exact", "finite"]
    kept = [kept for setting in settings for kept in gaussian.errors_by_reference(setting, both, 80, PROTOCOL)]
    return stack(kept, [f"{setting.name} {reference}" for setting in settings for reference in both], PROTOCOL.sizes)


@pytest.mark.parametrize("name", SETTINGS)
def test_another_cut_by_setting_gives_the_same_bytes(name, tmp_path):
    """Parts are read back from their stores, in which labels have another length each."""
    stores = {parts: tmp_path / f"in_{parts}.zarr.zip" for parts in (1, 3)}
    for parts, merged in stores.items():
        cut = [tmp_path / f"{part}_of_{parts}.zarr.zip" for part in range(parts)]
        for part, path in enumerate(cut):
            write(measured(name, share(SETTINGS[name], part, parts)), path)
        write(join_parts([read(path) for path in cut], "setting"), merged)
    xr.testing.assert_identical(*map(read, stores.values()))
    assert stores[1].read_bytes() == stores[3].read_bytes()
    assert np.isfinite(read(stores[3])["error"]).all()


def test_parts_of_two_configs_are_refused():
    whole = measured("sphere", SETTINGS["sphere"])
    with pytest.raises(ValueError, match="n"):
        join_parts([whole.isel(setting=[0]), whole.isel(setting=[1], n=[0, 1])], "setting")
