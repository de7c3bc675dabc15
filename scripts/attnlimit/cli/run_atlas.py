"""Models of the atlas with one command, then the atlas: `python -m attnlimit.cli.run_atlas my.yaml --cores 2`.

Each is an ordinary run, one after the other. The atlas has those asked for, all of configs/atlas that are finished, and
those that it had: a model of one's own adds its rows, for good. One that failed, or did not run yet, is named there.
"""

from pathlib import Path

from attnlimit.cli.run import ROOT
from attnlimit.cli.run_studies import command, comparison, not_comparable, outcome, run_all
from attnlimit.workflow.folders import COMPARISONS, RUNS
from attnlimit.workflow.overlays import read_overlay
from attnlimit.workflow.study_files import MODEL, Study, chosen_studies

NOT_YET = "did not run yet; `make atlas` runs it"


def main(arguments: list[str] | None = None) -> None:
    command(arguments, MODEL, run_and_gather, __doc__)


def run_and_gather(models: list[Study], cores: int) -> dict[str, str]:
    """Run those asked for, put all that are finished into the atlas; reasons of failures, the atlas's included."""
    failed = run_all(models, cores, MODEL)
    shipped = [study.name for study in chosen_studies(ROOT, (), MODEL)]
    names = list(dict.fromkeys([*shipped, *compared_before(), *(study.name for study in models)]))
    not_yet = {name: NOT_YET for name in names if not (ROOT / RUNS / name / "results").is_dir()}
    missing = not_comparable(names, kind=MODEL) | not_yet | failed
    finished = [name for name in names if name not in missing]
    if not finished:
        print("no atlas: none of its models is finished")
        return failed
    print(f"atlas of {', '.join(finished)}", flush=True)
    if why := outcome(comparison(finished, missing, cores, kind=MODEL)):
        return failed | {f"the atlas in {RUNS}/{MODEL.chapter}": why}
    return failed


def compared_before() -> list[str]:
    """Models that the atlas has now and whose runs are still there."""
    path, (section, key) = ROOT / RUNS / f"{MODEL.chapter}.yaml", COMPARISONS[MODEL.chapter]
    listed = read_overlay(path).get(section, {}).get(key, {}) if path.is_file() else {}
    return [Path(folder).name for folder in listed.values() if (ROOT / folder).is_dir()]


if __name__ == "__main__":
    main()
