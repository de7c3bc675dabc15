"""Could a claim have failed?  Verdicts on planted truths at the default run's sizes, under the claim and against it.

`make power` writes rules/page/power.json, which the page shows. A verdict counts only if it is firm enough for a family
of FAMILY claims.
"""

import json
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

from attnlimit.base.files import atomic
from attnlimit.base.log import one_line_errors
from attnlimit.base.seeds import generator
from attnlimit.page.assess import claims_of
from attnlimit.stats.claim import Claim, Fits
from attnlimit.stats.planted import CONFIG, default_config
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED, VERDICTS
from attnlimit.workflow.plain_words import meant
from attnlimit.workflow.registry import FOLDER, all_chapters, exclusive_chapters, questions_with_claims

SEED, FAMILY = 26, 20
DECIDED = 0.8  # of the times that a rule must decide rightly, under the claim and against it
TABLE = CONFIG.parent / "rules/page/power.json"


def declared() -> dict[str, tuple]:
    """Of each claim of a run with all chapters: alternative in words, and what makes stores of either truth."""
    found: dict[str, tuple] = {}
    for name in (name for name in asked() if (FOLDER / "questions" / name / "power.py").is_file()):
        found |= import_module(f"attnlimit.questions.{name}.power").POWER
    return found


def claims() -> dict[str, Claim]:
    return {claim.id: claim for claim in claims_of(asked())}


def asked() -> list[str]:
    """Questions with claims of a run with all chapters."""
    return questions_with_claims([name for name in all_chapters() if name not in exclusive_chapters()])


def shares(claim: Claim, make, truth: bool, draws: int, seed: int = SEED) -> dict[str, float]:
    """How often the claim gets each verdict when it is true, or its alternative is."""
    thresholds, counts = default_config()["assess_claims"], Counter[str]()
    for draw in range(draws):
        finding = claim(Fits(make(truth, generator(seed, f"power {claim.id}", int(truth), draw))), thresholds)
        firm = finding.p is None or finding.p * FAMILY <= 1 - thresholds["level"]
        counts[finding.verdict if firm else UNDECIDED] += 1
    return {verdict: counts[verdict] / draws for verdict in VERDICTS}


def row(claim: Claim, alternative: str, make, draws: int) -> dict:
    return {
        "id": claim.id,
        "alternative": alternative,
        "draws": draws,
        "claim": shares(claim, make, True, draws),
        "against": shares(claim, make, False, draws),
    }


def decides(row: dict) -> bool:
    """Whether the rule tells claim and alternative apart often enough."""
    return row["claim"][HOLDS] >= DECIDED and row["against"][FAILS] >= DECIDED


def table(path: Path = TABLE) -> dict[str, dict]:
    """What was written, by claim."""
    return {row["id"]: row for row in json.loads(path.read_text(encoding="utf-8"))}


def main(draws: int, *ids: str) -> None:
    """Of the claims named, or of all, so many draws of either truth; the other rows of the table stay."""
    rules, known = declared(), claims()
    for name in ids:
        if name not in rules:
            raise ValueError(f"CLAIMS: no claim {name!r:.100}{meant(name, list(rules))}; there are {', '.join(rules)}")
    if draws < 1:
        raise ValueError(f"DRAWS: {draws} is too small; write 1 or more")
    rows = {name: old for name, old in (table() if TABLE.is_file() else {}).items() if name in rules}
    for name in ids or rules:
        alternative, make = rules[name]
        rows[name] = row(known[name], alternative, make, draws)
        print(name, rows[name]["claim"], rows[name]["against"], "" if decides(rows[name]) else "TOO WEAK", flush=True)
        with atomic(TABLE) as temporary:
            ordered = [rows[name] for name in rules if name in rows]
            temporary.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with one_line_errors():
        main(int(sys.argv[1]), *sys.argv[2:])
