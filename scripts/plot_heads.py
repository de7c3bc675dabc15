"""The figures of question heads; with other fits beside them where the run has those."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.heads.figures import (
    beta_vs_horizon,
    bias_fluctuation,
    convergence,
    heat_map,
    local_slopes,
    token_complexity,
)

p = begin(snakemake)
set_theme()

rates = read(snakemake.input.rates)
others = ("first_order", "gaussian", "gaussian_asymptotic")
first_order, gaussian, counted = (read(snakemake.input[name]) if snakemake.input.get(name) else None for name in others)
figures = {
    "beta_vs_horizon": beta_vs_horizon(rates, gaussian, counted),
    "token_complexity": token_complexity(rates, first_order),
    "convergence": convergence(rates, first_order),
    "heat_map": heat_map(rates),
    "local_slopes": local_slopes(rates),
    "bias_fluctuation": bias_fluctuation(rates),
}
save(figures, snakemake.output, p.quick_look)
