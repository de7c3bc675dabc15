"""Wikitext becomes the prose that a reader would see."""

import pytest

from attnlimit.sources.corpus.wikitext import plain_text


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("'''Bold''' and ''italic''", "Bold and italic"),
        ("a [[target|shown]] [[plain]]s [[wikt:word]] [[:fr:Mot|mot]]", "a shown plains word mot"),
        ("x[[File:a.jpg|thumb|A [[b|c]] [sic] {{d|[[e]]}}]]y", "xy"),
        ("x[[Category:Y|z]]\n[[de:Wort]]\n[[zh-min-nan:Wort]]", "x"),
        ("see [http://a.org the site] and [http://b.org]", "see the site and"),
        ('a<ref name="x" /> b<ref>{{cite|x}} <br/> y</ref> c<ref name=x/>', "a b c"),
        ("a <!-- [[b]] --> c", "a c"),
        ("a {{b|{{c|d}}|e=[[f|g]]}} h", "a h"),
        ("a\n{| class=x\n|-\n| b\n{|\n| nested\n|}\n| c\n|}\nd", "a\nd"),
        ("over {{convert|3|to|5|km|mi}}, {{convert|1000|ft|m|sing=on}}", "over 3 to 5 km, 1000 ft"),
        ("{{lang|grc|ἀρχή}} {{lang-sq|fjalë}} {{nowrap|a b}} {{chem|H|2|O}}", "ἀρχή fjalë a b H2O"),
        ("10<sup>6</sup> Na<sup>+</sup> H<sub>2</sub>O", "10^6 Na+ H2O"),
        ("a&nbsp;&amp; b &lt;10 ppm, not &lt;ref&gt;", "a & b <10 ppm, not <ref>"),
        ("Word ({{IPA-all|w}}; ''short'') is", "Word (short) is"),
        ("* one\n** two\n# three\n: four\n\n\nfive", "one\ntwo\nthree\nfour\nfive"),
        ("== A ==\n=== B ===\nwords\n== C ==\n== D ==", "A\nB\nwords"),
        ("a\n==References==\nx\n===Web===\ny\n== After ==\nb", "a\nAfter\nb"),
        ("<math>x</math>", ""),
    ],
)
def test_wikitext_becomes_text(wikitext, text):
    assert plain_text(wikitext) == text
