"""Whatever config comes: it can be planned, or one line names the key; nothing else."""

import math
from copy import deepcopy
from math import inf

from hypothesis import given, settings
from hypothesis import strategies as st

from attnlimit.sources.corpus.location import local_files
from attnlimit.workflow import costs
from attnlimit.workflow.config import MOST_JOBS, check
from support.configs import DEFAULT
from support.fuzz import other_value, places


@settings(max_examples=120)
@given(data=st.data())
def test_a_config_can_be_planned_or_is_refused_in_one_line(data):
    config = deepcopy(DEFAULT)
    for _ in range(data.draw(st.integers(1, 2))):
        *sections, last = data.draw(st.sampled_from(places(config)))
        place = config
        for section in sections:
            place = place[section]
        match data.draw(st.sampled_from(["replace", "replace", "replace", "delete", "add", "swap"])):
            case "replace":
                place[last] = data.draw(other_value(place[last]))
            case "delete":
                del place[last]
            case "add":
                place[data.draw(st.text(max_size=8) | st.integers())] = data.draw(other_value(None))
            case "swap":
                other = data.draw(st.sampled_from(list(place)))
                place[last], place[other] = place[other], place[last]
        if not places(config):
            return
    try:
        check(config)
    except ValueError as error:
        message = str(error)
        assert message.startswith("config: ") and len(message.splitlines()) == 1, message
        return
    plan(config)


def plan(config: dict) -> None:
    """What rules/common.smk and the resources of the rules make of a config that passed."""
    assert isinstance(local_files(config["fetch_corpus"]), list)
    for rule in costs.job_bytes(config):
        assert 0 < round(costs.asked_bytes(config, rule) / 1e6) < inf
    for rule in costs.job_seconds(config):
        assert 0 < round(costs.asked_seconds(config, rule) / 60) < inf
    assert all(0 < count <= MOST_JOBS for count in costs.job_count(config).values())
    assert math.isfinite(costs.disk_bytes(config))
