"""Errors on Gaussian tokens at given horizons, isotropic and not, in several dimensions; some with a constant tilt."""

from attnlimit.attention.kernel import choose_device
from attnlimit.base.job import begin
from attnlimit.base.parts import share
from attnlimit.base.store import write
from attnlimit.questions.gaussian.about import PARTS
from attnlimit.questions.gaussian.measure import errors_of, horizon_settings, tilted_settings
from attnlimit.sampling.layout import measure_settings
from attnlimit.sampling.protocol import Protocol

p = begin(snakemake)
options = p.settings

settings = horizon_settings(options["dimensions"], options["condition"], options["scales"], p.seed)
settings += tilted_settings(options["tilted_dimension"], options["tilted_horizons"], options["constant_tilts"], p.seed)
settings = share(settings, p.part, options["parts"])
protocol = Protocol.of(options, p.seed, choose_device(p.device))
errors = measure_settings(settings, errors_of, protocol, "gaussian")
write(errors, snakemake.output.errors, PARTS["synthetic/parts/gaussian_part_{part}"], **protocol.facts(), code=p.code)
