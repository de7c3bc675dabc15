from attnlimit.sources.corpus.titles import text_name


def test_a_title_goes_before_a_file_name():
    assert text_name({"name": "dump.xml.bz2", "title": "English Wikipedia"}) == "English Wikipedia"
    assert text_name({"name": "my_texts"}) == "my_texts"
    assert text_name({}) == ""
