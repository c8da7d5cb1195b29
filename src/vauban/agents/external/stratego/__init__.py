"""The line protocol of Stratego, that of the UCC competition: our side of it, and a check for authors of bots."""

from vauban.agents.external.protocol import LineProtocol

PROTOCOLS = {
    "bot:": LineProtocol(
        "vauban.agents.external.stratego.agent:make_program", "Stratego", "A program of your own, in any language.",
        "bot:python3 examples/ucc_bot.py", "docs/external-bots.md", "vauban bot-check",
    ),
}  # fmt: skip
