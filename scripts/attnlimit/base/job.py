"""How the script of a rule begins."""

import os
import sys
from types import SimpleNamespace
from typing import Any

from attnlimit.base.log import open_log

QUICK_LOOK = "quick look: few tokens, few replicates; rates are rough"  # said by figures, pages and answer


def begin(snakemake: Any) -> SimpleNamespace:
    """Open the job's log, keep its libraries to its threads, and return its params by name."""
    open_log(snakemake.log[0])
    os.environ["RAYON_NUM_THREADS"] = str(snakemake.threads)  # of tokenizers, which take all cores otherwise
    if torch := sys.modules.get("torch"):  # only where the script imports it
        torch.set_num_threads(snakemake.threads)
    return SimpleNamespace(**snakemake.params.job)
