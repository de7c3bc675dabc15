"""Compare finished runs, of this folder or archived: `python -m attnlimit.cli.compare --runs code …`.

An archive is checked and restored into a folder of its own below runs/, where it is a run like any other.
"""

import argparse
import json
import shlex
import sys
import tempfile
from pathlib import Path

import yaml

from attnlimit.archive.bag import name_of
from attnlimit.archive.bundle import restore
from attnlimit.base.files import sha256_of
from attnlimit.cli.run import core_count, given_cores, mark_stopped, reproduce, stopped
from attnlimit.cli.run_studies import comparison
from attnlimit.workflow.folders import ARCHIVE, MADE_OF, RESOLVED, RUNS
from attnlimit.workflow.studies import NEEDED
from attnlimit.workflow.study_files import COMPARISON, TAKEN, require_name


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="attnlimit.cli.compare", description=__doc__)
    parser.add_argument("--runs", nargs="*", default=[], help="names of folders in runs/, or `default`")
    parser.add_argument("--archives", nargs="*", default=[], type=Path)
    parser.add_argument("--name", default=COMPARISON, help="of the comparison's own folder in runs/")
    parser.add_argument("--cores", type=core_count, default=1)
    given = parser.parse_args(arguments)
    try:
        if given.name in TAKEN and given.name != COMPARISON:
            raise ValueError(f"RUN: {given.name!r} is taken; give the comparison another name")
        names = [*given.runs, *restored(given.archives)]
        reproduce(comparison(names, {}, given.cores, given.name))
    except (ValueError, LookupError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        mark_stopped(Path(RUNS) / given.name)
        options = {"RUNS": given.runs, "ARCHIVES": given.archives}
        options |= {"RUN": [given.name]} if given.name != COMPARISON else {}
        words = given_cores(given.cores)
        words += [f"{key}={shlex.quote(' '.join(map(str, value)))}" for key, value in options.items() if value]
        stopped(f"{RUNS}/{given.name}/results/", f"make compare {' '.join(words)}")


def restored(archives: list[Path]) -> list[str]:
    """Names of the runs of these archives, restored if necessary; refuse two of one name."""
    names: dict[str, Path] = {}
    for path in archives:
        name = restored_run(path)
        if name in names:
            raise ValueError(f"{path}: a run {name!r}, as in {names[name]}; rename one of the files")
        names[name] = path
    return list(names)


def restored_run(path: Path) -> str:
    """Check an archive and restore it below runs/, unless it is there; the name of the run.

    That is the name of the file, or, if this is the default name of an archive, the name that the run had.
    """
    Path(RUNS).mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=RUNS, prefix=".restored-") as scratch:
        made = Path(scratch) / "run"
        restore(path, made)
        config = yaml.safe_load((made / "provenance/config.yaml").read_text(encoding="utf-8"))
        name = name_of(path) if path.name != ARCHIVE.name else config.get("run", "")
        require_name(name, str(path))
        if lacking := [each for each in NEEDED if each not in config["chapters"]]:
            raise ValueError(f"{path}: its run has no chapter {lacking[0]}, which a comparison needs; take another")
        folder = Path(RUNS) / name
        if (folder / ARCHIVE).is_file() and sha256_of(folder / ARCHIVE) == sha256_of(path):
            print(f"{path}: intact; already in {folder}", flush=True)
            return name
        if folder.exists():
            raise FileExistsError(f"{path}: {folder} holds another run; rename the file, which names the folder")
        own_settings(made, folder, config)
        made.rename(folder)
    print(f"{path}: intact; restored into {folder}", flush=True)
    return name


def own_settings(made: Path, folder: Path, config: dict) -> None:
    """Make the settings in the archive those of the restored run."""
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    (made / RESOLVED).write_text(f"{MADE_OF}{json.dumps([str(folder / RESOLVED)])}\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
