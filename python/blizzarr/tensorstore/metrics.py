"""Metrics: reads, writes and cache hits of this process, under TensorStore's names where these mean the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from blizzarr import _native
from blizzarr.errors import SpecError, StoreError
from blizzarr.futures import Future
from blizzarr.futures.pool import submit

_ENGINE: Final = {
    "decoded": ("/tensorstore/blizzarr/bytes_decoded", "bytes of elements decoded"),
    "encoded": ("/tensorstore/blizzarr/bytes_encoded", "bytes of elements encoded"),
    "cache_evictions": ("/tensorstore/cache/evict_count", "decoded chunks that a cache has dropped"),
    "cache_hits": ("/tensorstore/cache/hit_count", "decoded chunks found in a cache"),
    "cache_misses": ("/tensorstore/cache/miss_count", "decoded chunks not found in a cache"),
    "file_bytes_read": ("/tensorstore/kvstore/file/bytes_read", "bytes read from files"),
    "file_bytes_written": ("/tensorstore/kvstore/file/bytes_written", "bytes written to files"),
    "file_ranges_deleted": ("/tensorstore/kvstore/file/delete_range", "removals of everything below a prefix"),
    "files_opened": ("/tensorstore/kvstore/file/open_read", "files opened to be read"),
    "file_reads": ("/tensorstore/kvstore/file/read", "values, or parts of values, read from files"),
    "file_writes": ("/tensorstore/kvstore/file/write", "values stored in files, or removed"),
}
"""The names of what the engine counts, and descriptions."""

_REMOTE: Final = {
    "bytes_read": "bytes read from objects",
    "bytes_written": "bytes written to objects",
    "read": "objects, or parts of objects, read",
    "write": "objects written, or removed",
}
_KINDS: Final = ("azure", "gcs", "http", "s3")
_SECONDS: Final = 60


def experimental_collect_matching_metrics(
    metric_prefix: str = "", include_zero_metrics: bool = False
) -> list[dict[str, Any]]:
    """Return what this process has counted.

    Parameters
    ----------
    metric_prefix
        The beginning of the names.
    include_zero_metrics
        Whether to return those that are zero.

    Returns
    -------
    For each, a dictionary with its name, and its value in a list of dictionaries.

    Examples
    --------
    >>> [found["name"] for found in experimental_collect_matching_metrics("/tensorstore/cache/hit", True)]
    ['/tensorstore/cache/hit_count']
    """
    return [
        {"name": name, "values": [{"value": value}]}
        for name, _, value in _counted()
        if name.startswith(metric_prefix) and (value or include_zero_metrics)
    ]


def experimental_collect_prometheus_format_metrics(metric_prefix: str = "") -> list[str]:
    """Return what this process has counted as lines in the text format of Prometheus.

    Examples
    --------
    >>> experimental_collect_prometheus_format_metrics("/tensorstore/kvstore/http/read")[0]
    '# HELP tensorstore_kvstore_http_read objects, or parts of objects, read'
    """
    lines = []
    for name, about, value in _counted():
        if name.startswith(metric_prefix):
            plain = name.strip("/").replace("/", "_")
            lines += [f"# HELP {plain} {about}", f"{plain} {value}"]
    return lines


def experimental_push_metrics_to_prometheus(
    pushgateway: str = "", job: str = "", instance: str = "", metric_prefix: str = ""
) -> Future[int]:
    """Send what this process has counted to a Pushgateway of Prometheus, and return the status of its answer.

    Parameters
    ----------
    pushgateway
        Its URL, ``http://`` or ``https://``.
    job, instance
        The names under which it keeps them.
    metric_prefix
        The beginning of the names.

    Raises
    ------
    SpecError
        When the result is asked for, if the URL is none, or there is no job.
    StoreError
        Likewise, if it cannot be reached.
    """

    def push() -> int:
        from http.client import HTTPException
        from urllib.error import HTTPError
        from urllib.parse import quote
        from urllib.request import Request, urlopen

        if not job:
            raise SpecError("PushGatewayConfig bad job")
        if not pushgateway.startswith(("http://", "https://")):
            raise SpecError("PushGatewayConfig bad host")
        url = f"{pushgateway.rstrip('/')}/metrics/job/{quote(job, safe='')}"
        url += f"/instance/{quote(instance, safe='')}" if instance else ""
        text = "".join(f"{line}\n" for line in experimental_collect_prometheus_format_metrics(metric_prefix))
        request = Request(url, text.encode(), {"Content-Type": "text/plain; version=0.0.4"}, method="PUT")
        try:
            with urlopen(request, timeout=_SECONDS) as answer:
                return int(answer.status)
        except HTTPError as error:
            return error.code
        except (OSError, HTTPException) as error:
            raise StoreError(f"cannot reach the Pushgateway: {error}", store=pushgateway) from error

    return submit(push)


def experimental_update_verbose_logging(flags: str = "", overwrite: bool = False) -> None:
    """Accept what TensorStore's log is to contain; blizzarr writes no log, so that nothing changes.

    Examples
    --------
    >>> experimental_update_verbose_logging("file=2")
    """
    if not isinstance(flags, str):
        raise TypeError(f"expected flags as text, like 'file=2', found {flags!r}")


def parse_tensorstore_flags(argv: Sequence[str]) -> None:
    """Accept the arguments of a command line; TensorStore's flags are about its log, and blizzarr writes none.

    Examples
    --------
    >>> parse_tensorstore_flags(["program", "--tensorstore_verbose_logging=file"])
    """
    if isinstance(argv, str) or not all(isinstance(argument, str) for argument in argv):
        raise TypeError(f"expected a list of arguments, like sys.argv, found {argv!r}")


def _counted() -> Iterator[tuple[str, str, int]]:
    """Yield name, description and value of all that is counted, sorted."""
    engine = _native.progress()
    remote = {(protocol, what): value for protocol, what, value in _native.object_traffic()}
    rows = [(name, about, engine[what]) for what, (name, about) in _ENGINE.items()]
    for kind in _KINDS:
        rows += [
            (f"/tensorstore/kvstore/{kind}/{what}", about, remote.get((kind, what), 0))
            for what, about in _REMOTE.items()
            # HTTP stores are read-only.
            if kind != "http" or not what.endswith(("write", "written"))
        ]
    yield from sorted(rows)
