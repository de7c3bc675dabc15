"""The figures of question gaussian."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.gaussian.figures import (
    gaussian_anisotropic,
    gaussian_asymptotic,
    gaussian_beta_vs_horizon,
    gaussian_local_slopes,
    gaussian_protocol,
)

p = begin(snakemake)
set_theme()

rates, published, counted = (read(snakemake.input[name]) for name in ("rates", "published", "counted"))
figures = {
    "gaussian_beta_vs_horizon": gaussian_beta_vs_horizon(rates),
    "gaussian_anisotropic": gaussian_anisotropic(rates),
    "gaussian_local_slopes": gaussian_local_slopes(rates, counted),
    "gaussian_protocol": gaussian_protocol(published),
    "gaussian_asymptotic": gaussian_asymptotic(counted),
}
save(figures, snakemake.output, p.quick_look)
