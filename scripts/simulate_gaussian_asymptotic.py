"""Errors on 1e6 to 1e10 Gaussian tokens in d = 1, from counts in bins, and the same from bins twice as wide."""

from attnlimit.experiments.counted import Setting, errors_of
from attnlimit.experiments.layout import measure_settings
from attnlimit.experiments.protocol import Protocol
from attnlimit.log import open_log
from attnlimit.store import write

open_log(snakemake.log[0])
p, options = snakemake.params, snakemake.params.settings

settings = [Setting(horizon, options["bin_width"]) for horizon in options["horizons"]]
protocol = Protocol.of(options | {"nested": False, "dtype": "float64"}, p.seed, "cpu")
errors = measure_settings(settings, errors_of, protocol, "counted")
facts = protocol.facts() | {"bin_width": options["bin_width"]}
write(errors, snakemake.output.errors, **facts, code=p.code)
