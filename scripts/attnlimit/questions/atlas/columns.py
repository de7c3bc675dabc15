"""The columns of atlas.csv, one row a head, in their order: the one place that says what each is."""

from attnlimit.base.words import POOLED, Words

COLUMNS: Words = {
    "model": "name of the model",
    "text": "text that the model read",
    "causal": "whether a query reads only the keys before it: a language model; else an encoder",
    "context": "tokens of the context [tokens]",
    "layer": "attention layer, from 0",
    "head": "query head of the layer, from 0",
    **POOLED,
    "effective_keys": "effective keys 1 / sum p^2 of a query, mean over queries [keys]",
    "first_weight": "weight of the first key of the text, mean over queries",
    "first_order_error": "error of n random keys by exact first order, sqrt(E c1 / n) relative to S, the spread of the "
    "values; n is compare_atlas.size",
    "first_order_reliable": "whether n is at least 10 E u^2, from where on the first order may be used: 1 or 0",
    "keys_uniform": "keys drawn at random, with replacement, from which on the error is at most 5 % of S, measured, "
    "beyond the largest n extrapolated; inf: more than ten times the largest n [keys]",
    "keys_sink_recent": "keys that a query reads for 5 %, measured, beyond the largest n extrapolated: the first, the "
    "nearest, and random others [keys]",
    "keys_window": "nearest keys that a query reads for 5 %, measured; the least tried: at most so many; inf: not with "
    "fewer than all [keys]",
    "keys_top": "keys of the largest weights that a query reads for 5 %, measured; the least tried: at most so many; "
    "inf: not with fewer than all [keys]",
    "first_order_keys_uniform": "random keys for 5 % by exact first order [keys]",
    "first_order_keys_sink_recent": "keys that a query reads for 5 % by exact first order: the first, the nearest, and "
    "random others [keys]",
}
