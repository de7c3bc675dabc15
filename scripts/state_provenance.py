"""A page on where the numbers come from: data, settings, versions, machine."""

from pathlib import Path

from attnlimit.base.files import atomic, sha256_of
from attnlimit.base.job import begin
from attnlimit.base.store import read_attrs
from attnlimit.page.html import page, paragraph, section, table
from attnlimit.page.provenance import identities, machine, settings, versions

p = begin(snakemake)

stores = {path: read_attrs(path) for path in snakemake.input.stores}
columns = ("file", "tokens to draw from", "seed", "hash of the code", "sha256 of the file")
files = [
    (path, str(attrs.get("population", "")), str(attrs.get("seed", "")), attrs["code"], sha256_of(path))
    for path, attrs in stores.items()
]
whole = "The same settings, versions and kind of processor give the same bytes in every store, table and figure."
population = (
    "The tokens to draw from are whole blocks of text, the first that reach population_asked: a few more than that."
)
parts = [paragraph(p.left_out)] if p.left_out else []
parts += [
    section("Data", table(("of", "what"), identities(stores.values()))),
    section("Stores", paragraph(whole), paragraph(population), table(columns, files)),
    section("Settings, as resolved", table(("key", "value"), settings(p.config))),
    section("Versions", table(("package", "version"), versions(stores.values()))),
    section("Machine", table(("of", "what"), machine())),
]
with atomic(snakemake.output.page) as temporary:
    Path(temporary).write_text(page("Where the numbers come from", parts, p.config["quick_look"]))
