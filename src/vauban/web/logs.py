"""The log of a server, for its host: one JSON object a line, and no secret in any.

    log_to("server.log")
    tell("request", method="GET", path="/api/offer", status=200, ms=3)

Paths are written without what is after a question mark, and with `{game}` where a game is named; headers and bodies,
which hold secrets, setups and moves, are never written. Nothing is written unless `log_to` is called.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

STANDARD_ERROR = "-"

events = logging.getLogger("vauban.web.events")
events.propagate = False
events.addHandler(logging.NullHandler())


def tell(what: str, **fields: Any) -> None:
    """Write an event down, if anything is written down."""
    events.info(what, extra={"fields": fields})


class JsonLines(logging.Formatter):
    """Writes a record as a line of JSON: `time`, `level`, `what`, and the fields of an event."""

    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {"time": f"{moment}.{int(record.msecs):03}Z", "level": record.levelname.lower()}
        line |= {"what": record.getMessage()} | getattr(record, "fields", {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, separators=(",", ":"), ensure_ascii=False)


def log_to(file: str) -> None:
    """Write events and the server's complaints to the end of a file, or to standard error (`-`)."""
    handler: logging.Handler
    handler = (
        logging.StreamHandler(sys.stderr) if file == STANDARD_ERROR else logging.FileHandler(file, encoding="utf-8")
    )
    handler.setFormatter(JsonLines())
    events.setLevel(logging.INFO)
    for logger in (events, logging.getLogger("vauban"), logging.getLogger("uvicorn")):
        logger.addHandler(handler)
