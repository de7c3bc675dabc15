"""How often verdicts are right: the table that `make power` writes and the page shows, simulated with other draws."""

import numpy as np
import pytest

from attnlimit.page.power import DECIDED, claims, decides, declared, shares, table
from attnlimit.stats.verdicts import FAILS, HOLDS

DRAWS, SEED = 10, 27  # another seed than that of the table
CLAIMS, RULES, TABLE = claims(), declared(), table()


def test_every_claim_of_a_run_has_a_row():
    assert set(TABLE) == set(RULES) == set(CLAIMS)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_decides_under_the_claim_and_against_it(name):
    row = TABLE[name]
    assert decides(row), f"{name}: redesign it or drop it"
    for truth, right in ((True, HOLDS), (False, FAILS)):
        found = shares(CLAIMS[name], RULES[name][1], truth, DRAWS, SEED)[right]
        told = row["claim" if truth else "against"][right]
        share = np.clip(told, 1 / row["draws"], 1 - 1 / row["draws"])
        error = np.sqrt(share * (1 - share) * (1 / DRAWS + 1 / row["draws"]))
        assert abs(found - told) < 4 * error, (name, truth, found, told)
        assert found >= DECIDED - 4 * np.sqrt(DECIDED * (1 - DECIDED) / DRAWS)
