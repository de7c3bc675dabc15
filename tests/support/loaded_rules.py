"""The rules as Snakemake itself has read them, of the default config."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def rules() -> dict[str, dict]:
    """Of each rule but `all`: its files, what its jobs ask for, and whether they run where Snakemake runs."""
    done = subprocess.run([sys.executable, __file__], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import ConfigSettings, ResourceSettings

    with SnakemakeApi() as api:
        plan = api.workflow(
            resource_settings=ResourceSettings(cores=1), config_settings=ConfigSettings(), snakefile=ROOT / "Snakefile"
        )
        plan.dag()
        workflow = plan._workflow
        facts = {
            rule.name: {
                "local": rule.name in workflow._localrules,
                "resources": sorted(set(rule.resources) & {"mem_mb", "runtime", "gpu"}),
                "output": list(map(str, rule.output)),
                "makes": [file.regex().pattern for file in rule.output],
                "log": list(map(str, rule.log)),
                "benchmark": str(rule.benchmark),
                "script": str(rule.script),
                "conda": str(rule.conda_env),
                "params": list(rule.params.keys()),
            }
            for rule in workflow.rules
            if not rule.norun
        }
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
