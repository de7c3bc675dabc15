"""Names of the ways in which a query reads some keys of its context. Standard library only: planning imports it."""

SAMPLED = ("uniform", "sink", "recent", "sink_recent", "heavy_recent")  # kept keys, and a sample of the others
PLAIN = ("window", "sink_window", "top")  # nothing is drawn
STATELESS = (*SAMPLED[:4], *PLAIN)  # a query's keys depend on no other query
RELIABLE = 10  # the first order is used from n = RELIABLE * E u^2 on
PROTOCOLS = (*SAMPLED, "reservoir", *PLAIN)
