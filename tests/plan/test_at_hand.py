"""Files that are there, and those that are not."""

from attnlimit.plan.at_hand import absent, at_hand


def test_files_are_parted_into_those_that_are_there_and_the_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).touch()
    files = {"one": "a", "none": "x", "some": ["a", "y", "b"], "no": ["x", "z"], "empty": []}
    assert at_hand(files) == {"one": "a", "some": ["a", "b"]}
    assert absent(files) == ["x", "y", "z"]
    assert absent({"one": "a"}) == [] and at_hand({"one": "a", "two": ["b"]}) == {"one": "a", "two": ["b"]}
