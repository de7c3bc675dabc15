"""Bring the model into results/, checked, with a store of its heads: projections, or groups of a language model."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from attnlimit.attention.probe import require_same_output
from attnlimit.base.job import begin
from attnlimit.base.log import counted, logger, report_finding
from attnlimit.base.store import write
from attnlimit.sources.about import STORES
from attnlimit.sources.model.bert import heads_dataset
from attnlimit.sources.model.decoder import groups_dataset, load_either
from attnlimit.sources.model.families import is_causal, supported_shape
from attnlimit.sources.model.files import FILES, copy_verified, embedded_model, local_model
from attnlimit.sources.model.from_hub import hub_model
from attnlimit.sources.model.from_package import package_model

TRIED = 300  # words that a model of chapters with windows reads with its own attention and with the formula

p = begin(snakemake)
options, output = p.settings, snakemake.output
folder, weights_sha256 = Path(output.weights).parent, options["weights_sha256"]

with TemporaryDirectory(prefix=".package-", dir=folder) as scratch:
    match options["source"]:
        case "embedded":
            source = embedded_model()
        case "local":
            source = local_model(str(Path(snakemake.input[0]).parent))
        case "hub":
            require = partial(supported_shape, causal=p.causal)
            source = hub_model(options["location"], options["revision"], weights_sha256, require=require)
        case "package":
            source = package_model(options, Path(p.downloads), Path(scratch))
    sha256 = dict(source.sha256)
    if weights_sha256 and options["source"] != "package":  # there it is of what the package carries
        sha256["model.safetensors"] = weights_sha256
    for name, target in zip(FILES, (output.config, output.tokenizer, output.weights), strict=True):
        copy_verified(source.paths[name], Path(target), sha256[name])
supported_shape(folder / "config.json", p.causal)
model = load_either(folder)
if p.causal is not False:
    words = model.config.vocab_size
    require_same_output(model, torch.arange(min(TRIED, model.config.max_position_embeddings))[None] % words)
given = {key: options[key] for key in ("title", "licence") if options[key]}
identity = source.identity | given | {"family": model.config.model_type, "sha256": sha256}
logger.info("%s", identity)
heads = groups_dataset(model) if is_causal(folder / "config.json") else heads_dataset(model)
report_finding(
    f"{identity['name']}: {counted(heads.sizes['layer'], 'layer')} of {counted(heads.sizes['head'], 'head')}"
)
write(heads, output.heads, STORES["models/heads"], model=identity, code=p.code)
