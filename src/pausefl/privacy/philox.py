"""Standard Laplace samples by a counter-based generator: a function of (key, user, round, coordinate).

Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3") turns a counter of four
words and a key of two into four words. The last bit of a word is the sign; -log of the other 31 bits, as a
number in (0, 1), is the magnitude. There is no state from one sample to the next, so the compiled loops fill
vectors, and noise costs less than the update to which it is added.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pausefl.compiling import njit

#: Counters of one pass, whose samples stay in a core's cache.
_BLOCK = 256
_WORDS = 4
_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_LN_2 = np.float32(0.69314718056)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def standard_laplace(
    key: tuple[int, int], user: int, round: int, out: NDArray[np.float32]
) -> None:  # pragma: no cover - compiled
    """Fill ``out`` (n,) with samples of Laplace(0, 1).

    Parameters
    ----------
    key
        Two words: the seed and the purpose.
    user, round
        Which stream of the key.
    out
        float32; sample i is the same for any n.
    """
    words = np.empty((_WORDS, _BLOCK), np.uint32)
    numbers = np.empty(_WORDS * _BLOCK, np.float32)
    draws = np.empty(_WORDS * _BLOCK, np.float32)
    for start in range(0, len(out), len(draws)):
        _philox(key, start // _WORDS, user, round, words)
        _laplace(words.reshape(-1), numbers, numbers.view(np.int32), draws)
        n = min(len(draws), len(out) - start)
        out[start : start + n] = draws[:n]


@njit(cache=True)
def _philox(key, start, user, round, words):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Words (4, n) of the counters (start + i, user, round, 0)."""
    for i in range(words.shape[1]):
        x0, x1, x2, x3 = np.uint64(start + i) & _LOW, np.uint64(user), np.uint64(round), np.uint64(0)
        k0, k1 = np.uint64(key[0]), np.uint64(key[1])
        for _ in range(10):
            product_0, product_1 = _MULTIPLIERS[0] * x0, _MULTIPLIERS[1] * x2
            x0, x1 = (product_1 >> _HALF) ^ x1 ^ k0, product_1 & _LOW
            x2, x3 = (product_0 >> _HALF) ^ x3 ^ k1, product_0 & _LOW
            k0, k1 = (k0 + _WEYL[0]) & _LOW, (k1 + _WEYL[1]) & _LOW
        words[0, i], words[1, i], words[2, i], words[3, i] = x0, x1, x2, x3


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _laplace(words, numbers, bits, out):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Signed -log of words (n,) as numbers in (0, 1); ``bits`` is ``numbers`` seen as integers.

    The logarithm is that of the mantissa, by a polynomial of degree 9 (Cephes' ``logf``, relative error below
    1e-7), plus the exponent times log 2.
    """
    real = np.float32
    for i in range(len(words)):
        numbers[i] = real(np.int32(words[i] >> np.uint32(1))) + real(0.5)
    for i in range(len(words)):
        out[i] = real((bits[i] >> np.int32(23)) - np.int32(127 + 31))
        bits[i] = (bits[i] & np.int32(0x7FFFFF)) | np.int32(0x3F800000)
    for i in range(len(words)):
        x = numbers[i]
        upper = x > real(1.41421356)
        x = (x * real(0.5) if upper else x) - real(1)
        exponent = out[i] + (real(1) if upper else real(0))
        y = real(7.0376836292e-2)
        y = y * x - real(1.1514610310e-1)
        y = y * x + real(1.1676998740e-1)
        y = y * x - real(1.2420140846e-1)
        y = y * x + real(1.4249322787e-1)
        y = y * x - real(1.6668057665e-1)
        y = y * x + real(2.0000714765e-1)
        y = y * x - real(2.4999993993e-1)
        y = y * x + real(3.3333331174e-1)
        log = exponent * _LN_2 + (x + (y * x - real(0.5)) * x * x)
        out[i] = log if words[i] & np.uint32(1) else -log
