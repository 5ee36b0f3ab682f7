"""The first half of MurmurHash3_x86_128 of a 64-bit number, a hash function of Neuroglancer's shards.

https://github.com/aappleby/smhasher/wiki/MurmurHash3. The engine has the same function, to find chunks.
"""

from __future__ import annotations

__all__ = ["murmur"]

_MASK = 0xFFFFFFFF
_C1, _C2, _C3 = 0x239B961B, 0xAB0E9789, 0x38B34AE5
_LENGTH = 8


def murmur(number: int) -> int:
    """Return the lower 64 bits of the hash of the number's bytes in little-endian order.

    Examples
    --------
    >>> hex(murmur(0))
    '0x4772b084e028ae41'
    """
    low, high = number & _MASK, number >> 32
    h1 = _rotated(low * _C1 & _MASK, 15) * _C2 & _MASK ^ _LENGTH
    h2 = _rotated(high * _C2 & _MASK, 16) * _C3 & _MASK ^ _LENGTH
    # h3 and h4 stay equal for an input of eight bytes: `h3` stands for both.
    h1 = h1 + h2 + 2 * _LENGTH & _MASK
    h2, h3 = _mixed(h2 + h1 & _MASK), _mixed(_LENGTH + h1 & _MASK)
    h1 = _mixed(h1) + h2 + 2 * h3 & _MASK
    return (h2 + h1 & _MASK) << 32 | h1


def _rotated(number: int, by: int) -> int:
    return (number << by | number >> 32 - by) & _MASK


def _mixed(h: int) -> int:
    h = (h ^ h >> 16) * 0x85EBCA6B & _MASK
    h = (h ^ h >> 13) * 0xC2B2AE35 & _MASK
    return h ^ h >> 16
