"""Bring the model into results/, checked, with the projections of its heads in a store of their own."""

from pathlib import Path

from attnlimit.bert import heads_dataset, load
from attnlimit.hub import hub_model
from attnlimit.journal import logger, open_log
from attnlimit.model_files import FILES, copy_verified, embedded_model, local_model
from attnlimit.store import write

open_log(snakemake.log[0])
p, output = snakemake.params, snakemake.output

match p.source:
    case "embedded":
        found = embedded_model()
    case "local":
        found = local_model(p.location)
    case "hub":
        found = hub_model(p.location, p.revision, p.weights_sha256)
sha256 = found.sha256 | ({"model.safetensors": p.weights_sha256} if p.weights_sha256 else {})

for name, target in zip(FILES, (output.config, output.tokenizer, output.weights), strict=True):
    copy_verified(found.paths[name], Path(target), sha256[name])
model = load(Path(output.weights).parent)
identity = found.identity | {"family": model.config.model_type, "sha256": sha256}
logger.info("%s", identity)
write(heads_dataset(model), output.heads, model=identity, code=p.code)
