"""Heads with only A scaled: planted orders within each head, to the verdict."""

import numpy as np
import pandas as pd
import pytest

from attnlimit.questions.ablation.claims import ablation_falls
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED
from attnlimit.theory.bounds import predictions
from support.claims import THRESHOLDS, judged


def ablated(beta, count=5, alphas=(0.1, 0.3, 0.6, 1, 2, 5), noise=0.01, mixed=False) -> pd.DataFrame:
    """Heads of rates so different that only the order within each tells; with the tilt scaled, the other way round."""
    stream, rows = np.random.default_rng(0), []
    for head in range(count):
        for alpha in alphas:
            horizon = alpha * (0.5 + 0.2 * head)
            rows.append({"of_layer": head // 2, "of_head": head, "tilt_factor": 1.0, "horizon": horizon})
            sign = -1 if mixed and head % 2 else 1
            rows[-1]["beta"] = sign * beta(horizon) + 0.3 * (count - head) ** 2 + noise * stream.normal()
        rows += [row | {"tilt_factor": 2.0, "beta": 9 + row["horizon"]} for row in rows[-2:]]
    table = pd.DataFrame(rows).assign(n_min=64, saturated=False, misfit=False, limit_uncertain=False)
    table["bound_v3"] = predictions(table["horizon"], table["horizon"] ** 2)["bound_v3"]
    table["beta_low"], table["beta_high"] = table["beta"] - 0.01, table["beta"] + 0.01
    return pd.concat([table.assign(statistic=name) for name in ("mean", "cov")], ignore_index=True)


@pytest.mark.parametrize(
    ("beta", "changes", "verdict"),
    [
        (lambda h: 1 / (1 + h**2), {}, HOLDS),
        (lambda h: h / 9, {}, FAILS),
        (lambda h: 0.5, {"count": 12, "noise": 0.1}, FAILS),
        (lambda h: 1 / (1 + h**2), {"mixed": True}, UNDECIDED),  # falls in three heads of five
        (lambda h: 1 / (1 + h**2), {"count": 4}, UNDECIDED),
    ],
)
def test_heads_with_only_a_scaled(beta, changes, verdict):
    record = judged(ablation_falls, ablation=ablated(beta, **changes))
    assert record.verdict == verdict, record.in_short
    scaled = ablated(beta, **changes).query("statistic == 'mean' and tilt_factor == 1")
    assert record.measured["mean"]["fits"] == (scaled["horizon"] >= THRESHOLDS["weakest_horizon"]).sum()
