"""What a run says of itself is what its files say."""

import platform

from attnlimit.page.provenance import identities, machine, settings, versions


def test_settings_have_one_row_a_key():
    config = {"seed": 3, "layers": [0, 5], "fit_rates": {"bootstrap": 200, "misfit": 3}}
    assert settings(config) == [
        ("fit_rates.bootstrap", "200"),
        ("fit_rates.misfit", "3"),
        ("layers", "[0, 5]"),
        ("seed", "3"),
    ]


def test_each_identity_stands_once_and_every_version_is_named():
    model = {"name": "m", "sha256": {"config.json": "ab"}}
    first = {"model": model, "versions": {"numpy": "2.0", "zarr": "3.1"}}
    second = {"model": model | {"name": "n"}, "population": 50, "versions": {"numpy": "2.1"}}
    assert identities([first, second]) == [("model.name", "m, n"), ("model.sha256.config.json", "ab")]
    assert versions([first, second]) == [
        ("numpy", "2.0, 2.1"),
        ("python", platform.python_version()),
        ("zarr", "3.1"),
    ]


def test_the_machine_is_named():
    found = dict(machine())
    assert set(found) == {"system", "processor", "cores", "memory"}
    assert int(found["cores"]) >= 1 and float(found["memory"].split()[0]) > 0
