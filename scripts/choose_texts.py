"""The texts of the downstream task: blocks of the corpus, two or more an article, or labelled texts of your own."""

from pathlib import Path

import numpy as np

from attnlimit.base.files import sha256_of, verify_sha256
from attnlimit.base.job import begin
from attnlimit.base.log import counted, report_finding
from attnlimit.base.seeds import generator
from attnlimit.base.store import write
from attnlimit.questions.downstream.about import PARTS
from attnlimit.sources.corpus.articles import read_articles, read_identity
from attnlimit.sources.corpus.blocks import load_tokenizer, word_pieces
from attnlimit.sources.corpus.labelled import read_task
from attnlimit.sources.corpus.task_texts import (
    Wanted,
    choose_blocks_of_articles,
    choose_labelled,
    opening,
    require_training,
    texts_dataset,
)
from attnlimit.sources.model.families import class_names

p = begin(snakemake)
options, files = p.settings, snakemake.input
task = options["task"]
wanted, stream = Wanted.of(options, p.lengths), generator(p.seed, "choose_texts")
tokenizer, marks = load_tokenizer(files.tokenizer)
facts = {"task": task, "tokenizer_sha256": sha256_of(files.tokenizer)}

if task == "retrieval":
    articles = [article for batch in read_articles(files.texts) for article in batch]
    order = stream.permutation(len(articles))
    pieces = (word_pieces([articles[number].text], tokenizer)[0] for number in order)
    texts, places = choose_blocks_of_articles(pieces, marks, wanted, stream)
    classes = [str(articles[order[place]].page_id) for place in places]
    facts |= {"corpus": read_identity(files.texts)}
else:
    path = files.texts
    if options["sha256"]:
        verify_sha256(path, options["sha256"])
    trained = class_names(Path(files.config)) if task == "classifier" else None
    rows = read_task(path, options["text_column"], options["label_column"], trained)
    classes = rows.classes

    def read(chosen: list[int]) -> list[np.ndarray]:
        found = word_pieces([rows.texts[row] for row in chosen], tokenizer)
        return [opening(pieces, marks, wanted.longest) for pieces in found]

    texts, short = choose_labelled(rows.labels, read, wanted, stream)
    if task == "labels":
        require_training(texts, classes)
    identity = {"source": "text", "name": Path(path).name, "sha256": sha256_of(path)}
    facts |= {"corpus": identity, "too_short": short}
training = f", {counted(int(sum(texts.training)), 'training text')}" if any(texts.training) else ""
report_finding(f"{counted(len(texts.tokens), 'text')} of {counted(len(classes), 'class')}{training}")
words = PARTS["downstream/texts"]
write(texts_dataset(texts), snakemake.output.texts, words, **facts, classes=classes, seed=p.seed, code=p.code)
