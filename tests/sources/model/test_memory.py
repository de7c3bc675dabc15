"""What keeps a sound model from loading, too little memory or a missing package, is not laid to its config.json."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from transformers import BertConfig, BertModel

from attnlimit.base import files
from attnlimit.sources.model import bert
from attnlimit.sources.model.bert import load

SCRIPTS = Path(files.__file__).parents[2]
LOAD_WITH_LITTLE = """
import resource, sys
from pathlib import Path
import torch
from attnlimit.base.log import one_line_errors
from attnlimit.sources.model.bert import load
torch.set_num_threads(1)
load(Path(sys.argv[1]))  # all that is imported late, and the threads
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + int(sys.argv[3]) * 2**20,) * 2)
with one_line_errors():
    load(Path(sys.argv[2]))
"""


def save(folder: Path, words: int) -> Path:
    sizes = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 4}
    BertModel(BertConfig(vocab_size=words, **sizes)).half().save_pretrained(folder)
    return folder


@pytest.mark.parametrize("more", [16, 160])
def test_a_model_too_large_for_the_memory_is_told_as_such(tmp_path, more):
    """Weights of 128 MiB, twice that in float32, with memory not even for the file, and for the file but not more."""
    small, large = save(tmp_path / "small", 10), save(tmp_path / "large", 2**20)
    command = [sys.executable, "-c", LOAD_WITH_LITTLE, small, large, str(more)]
    job = subprocess.run(command, env={"PYTHONPATH": str(SCRIPTS)}, capture_output=True, text=True, check=False)
    assert job.returncode == 1
    assert job.stderr.startswith(f"MemoryError: {large / 'model.safetensors'}: not enough memory to read it; give")
    assert len(job.stderr.splitlines()) == 1


def test_a_size_that_no_memory_would_hold_is_laid_to_the_config(tmp_path):
    folder = save(tmp_path / "small", 10)
    facts = json.loads((folder / "config.json").read_bytes())
    (folder / "config.json").write_text(json.dumps(facts | {"vocab_size": 2**50}))
    with pytest.raises(ValueError, match=r"config\.json: transformers cannot read it"):
        load(folder)


def test_a_missing_package_is_told_as_such(tmp_path, monkeypatch):
    """transformers asks for packages only when a model needs them."""

    class Needy:
        @staticmethod
        def from_pretrained(*_, **__):
            import no_such_package  # noqa: F401

    folder = save(tmp_path / "small", 10)
    monkeypatch.setattr(bert, "AutoModel", Needy)
    with pytest.raises(ImportError, match=r"config\.json: needs a package that is missing .*no_such_package.*; run"):
        load(folder)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB."), MemoryError),
        (RuntimeError("x"), ValueError),
    ],
)
def test_of_runtime_errors_those_of_the_memory_are_told_apart(tmp_path, error, told):
    (tmp_path / "model.safetensors").write_bytes(bytes(8))
    with pytest.raises(told), bert.naming_errors(tmp_path):
        raise error
