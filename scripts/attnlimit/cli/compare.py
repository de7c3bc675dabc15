"""Compare finished runs, those of this folder and archived ones: `python -m attnlimit.cli.compare --runs code …`.

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
from attnlimit.archive.bundle import ARCHIVE, restore
from attnlimit.base.files import sha256_of
from attnlimit.cli.run import note_stop, reproduce
from attnlimit.cli.run_studies import comparison
from attnlimit.workflow.folders import MADE_OF, RESOLVED, RUNS
from attnlimit.workflow.studies import NEEDED
from attnlimit.workflow.study_files import COMPARISON, require_name


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="attnlimit.cli.compare", description=__doc__)
    parser.add_argument("--runs", nargs="*", default=[], help="names of folders in runs/, or `default`")
    parser.add_argument("--archives", nargs="*", default=[], type=Path)
    parser.add_argument("--name", default=COMPARISON, help="of the comparison's own folder in runs/")
    parser.add_argument("--cores", type=int, default=1)
    given = parser.parse_args(arguments)
    try:
        names = [*given.runs, *restored(given.archives)]
        reproduce(comparison(names, {}, given.cores, given.name))
    except (ValueError, LookupError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        note_stop(Path(RUNS) / given.name)
        told = {"RUNS": given.runs, "ARCHIVES": given.archives}
        words = [f"{key}={shlex.quote(' '.join(map(str, value)))}" for key, value in told.items() if value]
        print(f"stopped; go on with `make compare {' '.join(words)}`", file=sys.stderr)
        sys.exit(130)


def restored(archives: list[Path]) -> list[str]:
    """The names of the runs that these archives became, or were already; refuse two of one name."""
    names: dict[str, Path] = {}
    for path in archives:
        name = restored_run(path)
        if name in names:
            raise ValueError(f"{path}: a run {name!r}, as in {names[name]}; rename one of the files")
        names[name] = path
    return list(names)


def restored_run(path: Path) -> str:
    """Check an archive and put it where runs are, unless it is there; the name of the run.

    That is the name of the file; where this is what every run calls its archive, the name that the run had.
    """
    Path(RUNS).mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=RUNS, prefix=".restored-") as scratch:
        made = Path(scratch) / "run"
        restore(path, made)
        config = yaml.safe_load((made / "provenance/config.yaml").read_text(encoding="utf-8"))
        name = name_of(path) if path.name != Path(ARCHIVE).name else config.get("run", "")
        require_name(name, str(path))
        if lacking := [each for each in NEEDED if each not in config["chapters"]]:
            raise ValueError(f"{path}: its run has no chapter {lacking[0]}, which is compared; take another")
        folder = Path(RUNS) / name
        if (folder / ARCHIVE).is_file() and sha256_of(folder / ARCHIVE) == sha256_of(path):
            print(f"{path}: whole; it is in {folder} already", flush=True)
            return name
        if folder.exists():
            raise FileExistsError(f"{path}: {folder} holds another run; rename the file, which names the folder")
        own_settings(made, folder, config)
        made.rename(folder)
    print(f"{path}: whole; restored into {folder}", flush=True)
    return name


def own_settings(made: Path, folder: Path, config: dict) -> None:
    """Let the run go on with the settings in the archive, as any run of this project with its own."""
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    (made / RESOLVED).write_text(f"{MADE_OF}{json.dumps([str(folder / RESOLVED)])}\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
