"""The protocol of the public Geister server: foreign clients here, our agents there (docs/external-bots.md)."""

from vauban.agents.external.protocol import LineProtocol

PROTOCOLS = {
    "geister:": LineProtocol(
        "vauban.agents.external.geister.agent:make_program", "Geister",
        "A client of the public Geister server, started for every game.",
        "geister:python3 examples/geister_bot.py {host} {port}", "docs/external-bots.md",
        "vauban geister-server --second random",
    ),
    "geister-tcp:": LineProtocol(
        "vauban.agents.external.geister.agent:make_caller", "Geister",
        "A client of the public Geister server, which connects by itself.", "geister-tcp:10000",
        "docs/external-bots.md", "vauban geister-server --second random", "PORT", started=False,
    ),
}  # fmt: skip
