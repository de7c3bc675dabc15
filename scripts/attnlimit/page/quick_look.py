"""What figures, pages and answer say of a run that is only a first look."""

QUICK_LOOK = "quick look: few tokens, few replicates; rates are rough"
