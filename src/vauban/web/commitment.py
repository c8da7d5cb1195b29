"""A promise about a setup that can be checked later: its hash with a salt, published before the first move.

salt = new_salt()
promise = commit("FLPJ", salt)        # published at once
verify(promise, "FLPJ", salt)         # when the game is over, by anyone
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

SALT_BYTES = 32


def new_salt() -> str:
    """Return a salt that nobody can guess: without it a setup could be found by trying all."""
    return secrets.token_hex(SALT_BYTES)


def commit(setup: str, salt: str) -> str:
    """Return the promise: SHA-256 of "salt:setup", as hex digits."""
    return hashlib.sha256(f"{salt}:{setup}".encode()).hexdigest()


def verify(promise: str, setup: str, salt: str) -> bool:
    """Return whether a promise was about this setup."""
    return hmac.compare_digest(promise.encode(), commit(setup, salt).encode())
