"""`snakemake -n` in a fresh process that need not import Snakemake: forked from a server that has.

Half of the time of a plan goes into these imports. The project's own modules are forgotten: they must come from the
folder that is planned, whose files a test may have changed.
"""

import os
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

CONTEXT = get_context("forkserver")
PRELOAD = ["snakemake.cli", "snakemake.dag", "snakemake.script", "snakemake.report.html_reporter", "smart_open.http"]
PRELOAD += ["snakemake_executor_plugin_slurm", "snakemake_logger_plugin_rich", "nbformat", "pydantic"]
CONTEXT.set_forkserver_preload(PRELOAD)


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """As subprocess.run with text would; what goes to stdout comes back with what goes to stderr."""
    with TemporaryDirectory() as aside:
        child = CONTEXT.Process(target=call, args=(str(folder), arguments, f"{aside}/said"))
        child.start()
        child.join()
        return subprocess.CompletedProcess(arguments, child.exitcode, "", Path(aside, "said").read_text())


def call(folder: str, arguments: tuple[str, ...], said: str) -> None:
    from snakemake.cli import main

    for name in [name for name in sys.modules if name.split(".")[0] == "attnlimit"]:
        del sys.modules[name]  # brought along by the main module of the tests
    sys.path[:] = [path for path in sys.path if not path.endswith(("/scripts", "/tests"))]
    with Path(said).open("w") as target:
        os.dup2(target.fileno(), 1)
        os.dup2(target.fileno(), 2)
    os.chdir(folder)
    main(list(arguments))
