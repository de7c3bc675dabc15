"""Records of another Snakemake are not read as if they were of this one."""

import json
import re
import time

import pytest
from snakemake.persistence import RECORD_FORMAT_VERSION

from attnlimit.archive.snakemake_records import FORMAT, read_record, record_path, write_records
from support.tiny_run import FIT, RATES


def test_the_format_is_that_of_the_snakemake_installed():
    assert FORMAT == RECORD_FORMAT_VERSION


@pytest.mark.parametrize("version", [FORMAT - 1, FORMAT + 1, None])
def test_a_record_of_another_format_is_refused(tmp_path, version):
    write_records([FIT], tmp_path, time.time())
    path = record_path(RATES, tmp_path)
    record = read_record(RATES, tmp_path)
    assert record["rule"] == "fit_rates"
    record["record_format_version"] = version
    if version is None:
        del record["record_format_version"]
    path.write_text(json.dumps(record))
    line = f"{path}: Snakemake's record of {RATES} has format {version}, this reads {FORMAT}; install"
    with pytest.raises(ValueError, match=f"^{re.escape(line)}.*--forcerun {re.escape(RATES)}$"):
        read_record(RATES, tmp_path)
