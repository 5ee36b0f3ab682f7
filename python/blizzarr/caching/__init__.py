"""Caches: decoded chunks are kept for the next read, within a limit, as long as they are known to be up to date."""

from blizzarr.caching.keeping import Keeping, keeping_of
from blizzarr.caching.pool import CacheInfo, CachePool
from blizzarr.caching.store import CachedStore, Recheck, Since

__all__ = ["CacheInfo", "CachePool", "CachedStore", "Keeping", "Recheck", "Since", "keeping_of"]
