"""A protocol is what its section says, and its draws serve every size once."""

import pytest

from attnlimit.sampling.protocol import Protocol
from support.configs import DEFAULT

SECTION = {"sizes": [8, 16, 32], "replicates": 6, "group": 3, "nested": True, "dtype": "float64", "horizons": [1, 2]}
EXPERIMENTS = ("simulate_gaussian", "simulate_gaussian_published", "simulate_sphere", "measure_interventions")


def test_a_section_may_have_more_keys_and_none_fewer():
    protocol = Protocol.of(SECTION, seed=5, device="cpu")
    assert protocol == Protocol([8, 16, 32], 6, 3, True, 5, "cpu", "float64")
    for key in SECTION.keys() - {"horizons"}:
        with pytest.raises(KeyError, match=key):
            Protocol.of({name: value for name, value in SECTION.items() if name != key}, seed=5, device="cpu")


@pytest.mark.parametrize("section", EXPERIMENTS)
def test_every_experiment_of_the_default_config_has_one(section):
    protocol = Protocol.of(DEFAULT[section], DEFAULT["seed"], "cpu")
    assert protocol.sizes == sorted(set(protocol.sizes))
    assert protocol.replicates % protocol.group == 0


@pytest.mark.parametrize("nested", [True, False])
def test_every_size_is_served_once_and_no_two_draws_have_one_address(nested):
    drawn = Protocol.of(SECTION | {"nested": nested}, 5, "cpu").draws()
    assert [size for _, served in drawn for size in served] == SECTION["sizes"]
    assert len({address for address, _ in drawn}) == len(drawn) == (1 if nested else 3)


def test_a_store_is_told_what_its_coordinates_do_not_say():
    facts = Protocol.of(SECTION, 5, "cpu").facts()
    assert facts == {"seed": 5, "nested": True, "dtype": "float64", "device": "cpu"}
