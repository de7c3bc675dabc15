"""Stands in every environment of these tests and is loaded when its Python starts: notes what a job imports."""

import atexit
import json
import os
import sys
from pathlib import Path


def note() -> None:
    """At the end of a rule's script, which Snakemake calls .snakemake/scripts/tmp….<rule>.py: where each module lay."""
    script = Path(sys.argv[0])
    if script.parts[-3:-1] == (".snakemake", "scripts"):
        specs = [getattr(module, "__spec__", None) for module in sys.modules.values()]
        files = {spec.name: spec.origin for spec in specs if spec and spec.has_location}
        folder = Path(sys.prefix, "loaded")
        folder.mkdir(exist_ok=True)
        (folder / f"{script.suffixes[-2][1:]}.{os.getpid()}.json").write_text(json.dumps(files))


atexit.register(note)
