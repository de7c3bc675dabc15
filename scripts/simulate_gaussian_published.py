"""Errors on Gaussian tokens in the published grid, against the closed form and against a finite sample."""

from attnlimit.attention.kernel import choose_device
from attnlimit.base.job import begin
from attnlimit.base.log import bar
from attnlimit.base.parts import share
from attnlimit.base.store import write
from attnlimit.questions.gaussian.about import PARTS
from attnlimit.questions.gaussian.measure import errors_by_reference, published_settings
from attnlimit.sampling.layout import stack
from attnlimit.sampling.protocol import Protocol

p = begin(snakemake)
options = p.settings
references, tokens = options["references"], options["reference_tokens"]

settings = published_settings(options["dimension"], options["variance"], options["scales"], p.seed)
settings = share(settings, p.part, options["parts"])
protocol = Protocol.of(options, p.seed, choose_device(p.device))
kept = []
for setting in bar(settings, total=len(settings), unit="settings", name="published"):
    kept += errors_by_reference(setting, references, tokens, protocol)

names = [f"{setting.name} {reference}" for setting in settings for reference in references]
facts = protocol.facts() | {"reference_tokens": tokens}
words = PARTS["synthetic/parts/gaussian_published_part_{part}"]
write(stack(kept, names, protocol.sizes), snakemake.output.errors, words, **facts, code=p.code)
