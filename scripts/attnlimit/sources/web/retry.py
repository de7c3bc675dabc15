"""Retry policy for transient HTTP failures."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import requests

from attnlimit.base.log import logger

PIECE = 1 << 16  # bytes; a cut connection loses the piece it was in
SECONDS_WITHOUT_ANSWER = 60
PAUSES = (1, 4, 16, 60)  # seconds before another try
TOO_MANY_REQUESTS = 429


class TransientError(ConnectionError):
    """A failure that may pass, in a few words."""


@contextmanager
def transient_errors(url: str, seconds: float = SECONDS_WITHOUT_ANSWER) -> Iterator[None]:
    """Make a TransientError of a connection that was cut or not made, and of `seconds` without an answer."""
    try:
        yield
    except requests.exceptions.ChunkedEncodingError as error:
        raise TransientError("the connection was cut") from error
    except requests.Timeout as error:
        raise TransientError(f"no answer within {seconds} s") from error
    except requests.ConnectionError as error:
        logger.info("%s", error)
        cut = "Connection aborted" in str(error)
        raise TransientError(
            "the connection was cut" if cut else f"no connection to {urlsplit(url).hostname}"
        ) from error


def raise_if_transient(answer: requests.Response) -> None:
    """Raise a TransientError if the server is busy or broken."""
    if answer.status_code >= 500 or answer.status_code == TOO_MANY_REQUESTS:
        raise TransientError(f"the server answers {answer.status_code} {answer.reason}")


def retry(action: Callable[[], Any], what: str, remedy: str, pauses: tuple[float, ...]) -> Any:
    """What the action returns; tried again after a TransientError, once for each pause, then an error in one line."""
    for pause in pauses:
        try:
            return action()
        except TransientError as failure:
            logger.warning("%s: %s; next try in %g s", what, failure, pause)
        time.sleep(pause)
    try:
        return action()
    except TransientError as failure:
        raise ConnectionError(f"{what}: {failure}; {remedy}") from failure
