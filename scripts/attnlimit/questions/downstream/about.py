"""What does the user of a model see when every layer attends to n drawn keys?"""

from attnlimit.base.about import About, Words
from attnlimit.base.words import COUPLINGS, LABELS, LINE

# Words of the variables, by store.
TEXTS: Words = {
    "text": "text that the task asks about: a block of an article, or a labelled text",
    "label": "number of the article, or of the class, that the text is of",
    "cluster": "texts with one number are resampled together: blocks of an article",
}
OVERALL: Words = {
    "chance": "accuracy of an answer without reading",
    "unrelated_distance": "root mean square distance of the dense embeddings of two texts with other labels",
}
STORES: dict[str, Words] = {
    "downstream/answers": LABELS
    | COUPLINGS
    | TEXTS
    | OVERALL
    | {
        "embedding_error": "distance of the embedding to the dense one, of each text and draw",
        "answer": "number of the article, or of the class, that the task gives with n keys drawn in every layer",
        "right": "whether the answer is the label",
        "agrees": "whether the answer is that of the dense model",
        "dense_answer": "answer of the dense model",
        "dense_right": "whether the answer of the dense model is the label",
    },
    "rates/downstream": LABELS
    | TEXTS
    | OVERALL
    | LINE
    | {
        "accuracy": "share of right answers, over texts and draws",
        "agreement": "share of answers as of the dense model, over texts and draws",
        "dense_accuracy": "share of right answers of the dense model",
        "embedding_error": "distance of the embedding to the dense one, geometric mean over texts and draws",
        "bend": "rate over the upper half of the sizes less that over the lower half",
        "tertile": "third of the texts by the largest horizon over heads and layers",
        "tertile_error": "distance of the embedding to the dense one, geometric mean over the third of the texts",
        "tertile_beta": "rate, mean over the third of the texts",
        "tertile_difference": "rate of the third with the highest horizons less that of the lowest",
        "tertile_from": "smallest horizon of the third",
        "tertile_to": "largest horizon of the third",
        "outcome": "what is correlated with the horizon of a text: its rate, or its log error at the largest n",
        "aggregation": "how the couplings of all heads and layers are summed up to one of the text",
        "correlation": "rank correlation over texts of the outcome with the aggregation",
        "declared": "whether it is the one correlation that was declared before any result",
        "probability": "probability of a correlation as far from 0 if there were none",
        "corrected_probability": "that probability with Holm's correction for all correlations that were not declared",
        "reliability": "share of the variance of the outcome over texts that is no noise of the draws",
        "draw_noise": "standard deviation of the outcome of a text from the noise of its draws",
        "text_rate": "rate of the text: minus the slope of log error, mean over draws, on log n",
        "text_horizon": "largest horizon of the text over heads and layers",
    },
}
PARTS: dict[str, Words] = {
    "downstream/texts": TEXTS
    | {
        "training": "whether the text only trains the linear probe",
        "text_of_token": "text that the token stands in",
        "token_id": "number of the word piece in the vocabulary",
    },
    "downstream/parts/{text_part}": LABELS
    | COUPLINGS
    | TEXTS
    | {
        "embedding": "mean of the last states over the tokens of the text, of length 1; n keys drawn in every layer",
        "dense_embedding": "mean of the last states over the tokens of the text, of length 1; nothing drawn",
        "training_text": "text that trains the linear probe",
        "training_embedding": "mean of the last states over a text that trains the linear probe, of length 1",
        "class": "class of a classifier, in the order of its scores",
        "scores": "scores of the classifier, n keys drawn in every layer",
        "dense_scores": "scores of the classifier, nothing drawn",
    },
}

ABOUT = About(
    title="what becomes of the model's answers",
    question="What does the user of a model see when every layer attends to n drawn keys?",
    chapter="whole_model",
    place=1,
    uses=("corpus/blocks", "models/heads"),
    figures={
        "downstream": "the whole model: a task with drawn keys",
    },
    stores=STORES,
    parts=PARTS,
)
