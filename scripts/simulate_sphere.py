"""Errors of attention on tokens uniform on a sphere, at chosen horizons and at the published scales."""

from attnlimit.attention.kernel import choose_device
from attnlimit.base.job import begin
from attnlimit.base.parts import share
from attnlimit.base.store import write
from attnlimit.questions.sphere.about import PARTS
from attnlimit.questions.sphere.measure import choose_settings, errors_of, unit_heads
from attnlimit.sampling.layout import measure_settings
from attnlimit.sampling.protocol import Protocol

p = begin(snakemake)
options = p.settings

heads = unit_heads(options["dimension"], p.seed)
settings = choose_settings(heads, options["radius"], options["horizons"], options["scales"])
settings = share(settings, p.part, options["parts"])
protocol = Protocol.of(options, p.seed, choose_device(p.device))
errors = measure_settings(settings, errors_of, protocol, "sphere")
facts = protocol.facts() | {"dimension": options["dimension"], "radius": options["radius"]}
write(errors, snakemake.output.errors, PARTS["synthetic/parts/sphere_part_{part}"], **facts, code=p.code)
