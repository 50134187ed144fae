"""The randomness of the drand network `quicknet`, checked without a connection.

A round appears every three seconds; its BLS signature is over the number of the round alone, so
that it is not known before, and checked by the public key after.

Sources: the network's chain information (public key, genesis, period); the scheme
`bls-unchained-g1-rfc9380`: signatures in G1, hashed by RFC 9380. `py_ecc` computes the pairings.
"""

import hashlib
import sys

from desim.errors import BadRecord, UsageError

#: The network's public key in G2, its first second, and the seconds of a round.
PUBLIC_KEY = bytes.fromhex(
    "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451"
    "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
)
GENESIS, PERIOD = 1_692_803_367, 3

#: The domain of the hash, and the bytes of a signature.
_DOMAIN = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
_SIGNATURE_BYTES = 48


def time_of(round_number: int) -> int:
    """Return when a round appears, in UTC seconds since 1970."""
    return GENESIS + (round_number - 1) * PERIOD


def round_after(time: int) -> int:
    """Return the first round that appears after a time in UTC seconds.

    >>> round_after(time_of(1000)), round_after(time_of(1000) - 1)
    (1001, 1000)
    """
    return max(1, (time - GENESIS) // PERIOD + 2)


def checked_randomness(round_number: int, signature: bytes) -> bytes:
    """Return the 32 bytes that a round draws: SHA-256 of its signature.

    Raises:
        BadRecord: The signature is not the network's for this round.
        UsageError: `py_ecc` is not installed.
    """
    if not (0 < round_number < 1 << 63 and len(signature) == _SIGNATURE_BYTES):
        raise BadRecord("the beacon is no round of the network with its signature")
    # The package raises the limit for good when it is imported, beyond what the stack holds.
    limit = sys.getrecursionlimit()
    try:
        valid = _is_valid(round_number, signature)
    except ImportError:
        raise UsageError(
            "a drand beacon needs the package py_ecc; pip install 'desim[verify]'"
        ) from None
    except (ValueError, AssertionError):  # no point of the curve
        valid = False
    finally:
        sys.setrecursionlimit(limit)
    if not valid:
        raise BadRecord("the beacon does not have the signature of its network")
    return hashlib.sha256(signature).digest()


def _is_valid(round_number: int, signature: bytes) -> bool:
    """Compare two pairings: of the signature, and of the hash of the round with the public key."""
    from py_ecc.bls.hash_to_curve import hash_to_G1
    from py_ecc.bls.point_compression import decompress_G1, decompress_G2
    from py_ecc.optimized_bls12_381 import (
        FQ12,
        G2,
        curve_order,
        final_exponentiate,
        is_inf,
        multiply,
        neg,
        pairing,
    )

    half = len(PUBLIC_KEY) // 2
    halves = PUBLIC_KEY[:half], PUBLIC_KEY[half:]
    key = decompress_G2(tuple(int.from_bytes(each, "big") for each in halves))
    point = decompress_G1(int.from_bytes(signature, "big"))
    if is_inf(point) or not is_inf(multiply(point, curve_order)):
        return False
    message = hashlib.sha256(round_number.to_bytes(8, "big")).digest()
    hashed = hash_to_G1(message, _DOMAIN, hashlib.sha256)
    product = pairing(G2, point, final_exponentiate=False) * pairing(
        key, neg(hashed), final_exponentiate=False
    )
    return bool(final_exponentiate(product) == FQ12.one())
