"""Errors on 1e6 to 1e10 Gaussian tokens in d = 1, from counts in bins, and the same from bins twice as wide."""

from attnlimit.base.job import begin
from attnlimit.base.store import write
from attnlimit.questions.gaussian.about import STORES
from attnlimit.questions.gaussian.counted import Setting, errors_of
from attnlimit.sampling.layout import measure_settings
from attnlimit.sampling.protocol import Protocol

p = begin(snakemake)
options = p.settings

settings = [Setting(horizon, options["bin_width"]) for horizon in options["horizons"]]
protocol = Protocol.of(options | {"nested": False, "dtype": "float64"}, p.seed, "cpu")
errors = measure_settings(settings, errors_of, protocol, "counted")
facts = protocol.facts() | {"bin_width": options["bin_width"]}
write(errors, snakemake.output.errors, STORES["synthetic/gaussian_asymptotic"], **facts, code=p.code)
