"""Arrays and groups as HTML, for notebooks.

Nothing here reads a chunk. All text is escaped: names and attributes come from whoever wrote the data. The style uses
translucent colours and that of the surrounding text, so that it fits dark and light pages without asking which it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from blizzarr.display import chunk_grid, facts
from blizzarr.display.sizes import Stored, ratio_text, shape_text, stored
from blizzarr.errors import UnsupportedOperationError
from blizzarr.formats import Child, chunk_prefix
from blizzarr.hierarchy.members import read_members
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import join
from blizzarr.printable import escape
from blizzarr.size_text import count_text
from blizzarr.stores import Store

_MOST_MEMBERS: Final = 200
_MOST_ATTRIBUTES: Final = 60
_LONGEST_VALUE: Final = 600
_PATIENCE: Final = 0.2
"""The seconds for adding up sizes: a notebook shows an array with every run of a cell."""
_FEW: Final = 500
"""The most stored objects whose sizes are looked up for each array in a group."""

_STYLE: Final = """<style>
.bzr{font:13px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;color:inherit;max-width:60em;margin:.3em 0}
.bzr *{box-sizing:border-box}
.bzr table{font-size:12px;line-height:1.45}
.bzr td,.bzr .bzr-mono{font-family:ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace;font-size:12px}
.bzr th{font-size:12.5px}
.bzr-box{border:1px solid rgba(128,132,145,.35);border-radius:8px;overflow:hidden}
.bzr-head{padding:.45em .9em;background:rgba(70,130,200,.11);border-bottom:1px solid rgba(128,132,145,.28)}
.bzr-head b{font-size:14px;margin-right:.7em;overflow-wrap:anywhere}
.bzr-kind{font-size:11px;letter-spacing:.04em;padding:.1em .6em;border-radius:1em;
background:rgba(70,130,200,.22);margin-right:.7em}
.bzr-pale{opacity:.68}
.bzr-body{display:flex;flex-wrap:wrap;align-items:center;gap:.6em 1.6em;padding:.7em .9em}
.bzr-body>div{flex:1 1 22em;min-width:0}
.bzr table.bzr-facts{border-collapse:collapse;margin:0;width:100%;border:0;color:inherit;background:none}
.bzr table.bzr-facts tr{background:none!important}
.bzr-facts th,.bzr-facts td{padding:.16em .9em .16em 0!important;text-align:left!important;vertical-align:top;
border:0!important;white-space:normal;max-width:none}
.bzr-facts th{font-weight:500!important;opacity:.68;white-space:nowrap;width:1%}
.bzr-facts td{overflow-wrap:anywhere}
.bzr-bar{height:5px;border-radius:3px;background:rgba(128,132,145,.25);margin:.5em 0 .2em;max-width:22em;
overflow:hidden}
.bzr-bar i{display:block;height:100%;min-width:2px;background:rgb(58,128,200)}
.bzr details{border-top:1px solid rgba(128,132,145,.22);padding:.35em .9em}
.bzr summary{cursor:pointer;user-select:none}
.bzr details>table.bzr-facts{margin:.3em 0 .3em 1.1em;width:calc(100% - 1.1em)}
.bzr-tree{padding:.35em .9em .5em}
.bzr-tree details{border:0;padding:.08em 0}
.bzr-tree ul{list-style:none;margin:0 0 0 .45em;padding:0 0 0 1em;border-left:1px solid rgba(128,132,145,.3)}
.bzr-tree li{margin:0;padding:.05em 0}
.bzr-tree summary b{font-weight:600;margin-right:.6em}
.bzr-leaf{margin:.1em 0 .5em 1.1em}
.bzr-flat{padding-left:1.15em}
.bzr-bad{color:rgb(205,70,60)}
.bzr-grid{display:block;max-width:100%;height:auto}
.bzr-grid text{fill:currentColor;font:11px ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace;opacity:.8}
.bzr-grid polygon{stroke:currentColor;stroke-opacity:.75;stroke-width:1.3;stroke-linejoin:round}
.bzr-front{fill:rgba(58,128,200,.30)}.bzr-top{fill:rgba(58,128,200,.14)}.bzr-side{fill:rgba(58,128,200,.44)}
.bzr-chunk{fill:none;stroke:currentColor;stroke-opacity:.3;stroke-width:.7}
.bzr-shard{fill:none;stroke:currentColor;stroke-opacity:.85;stroke-width:1.7;stroke-linejoin:round}
</style>"""


def array_html(store: Store, path: str, meta: ArrayMeta) -> str:
    """Return an array as HTML: its facts, a drawing of its chunk grid, and its attributes, folded."""
    size = stored(store, chunk_prefix(path, meta), seconds=_PATIENCE)
    head = _head(path, store, "array", f"{shape_text(meta.shape)}  {meta.dtype}")
    body = f'<div class="bzr-body"><div>{_facts(meta, size)}</div>{_grid(meta)}</div>'
    return _page(head + body + _attributes(meta.attributes))


def group_html(store: Store, path: str, meta: GroupMeta) -> str:
    """Return a group as HTML: the tree of its members, and its attributes, folded."""
    cheap = meta.consolidated is not None or stored(store, chunk_prefix(path, meta), limit=0) is not None
    # In remote stores, each level costs requests, so one level is enough.
    try:
        members = read_members(store, path, meta, 3 if cheap else 0)
    except UnsupportedOperationError:
        head = _head(path, store, "group", "its members are unknown, as the store cannot list them")
        return _page(head + _attributes(meta.attributes))
    arrays = sum(isinstance(child.meta, ArrayMeta) for child in members)
    groups = sum(isinstance(child.meta, GroupMeta) for child in members)
    head = _head(path, store, "group", f"{count_text(arrays, 'array')}, {count_text(groups, 'group')}")
    tree = _tree(store, path, members[:_MOST_MEMBERS])
    if len(members) > _MOST_MEMBERS:
        tree += f'<div class="bzr-pale">and {len(members) - _MOST_MEMBERS:,} more</div>'
    inside = tree or '<span class="bzr-pale">empty</span>'
    return _page(f'{head}<div class="bzr-tree">{inside}</div>{_attributes(meta.attributes)}')


def _page(content: str) -> str:
    # JSON can contain halves of surrogate pairs, which cannot be shown.
    content = content.encode("utf-8", "backslashreplace").decode()
    return f'<div class="bzr">{_STYLE}<div class="bzr-box">{content}</div></div>'


def _head(path: str, store: Store, kind: str, summary: str) -> str:
    return (
        f'<div class="bzr-head"><b>{escape("/" + path)}</b><span class="bzr-kind">{kind}</span>'
        f'<span class="bzr-mono">{escape(summary)}</span> <span class="bzr-pale">in {escape(str(store))}</span></div>'
    )


def _facts(meta: ArrayMeta, size: Stored | None) -> str:
    return _table(facts.rows(meta, size)) + _bar(facts.raw_bytes(meta), size)


def _bar(raw: int | None, size: Stored | None) -> str:
    """Return a bar that shows the stored size as a part of the raw size."""
    if not raw or ratio_text(raw, size) is None:
        return ""
    assert size is not None
    percent = min(100.0, 100 * size.bytes / raw)
    markup = f"{percent:.3g} % of the raw size is stored"
    return f'<div class="bzr-bar" title="{markup}"><i style="width:{percent:.2f}%"></i></div>'


def _grid(meta: ArrayMeta) -> str:
    return chunk_grid.draw(
        meta.shape,
        meta.read_grid.edges,
        meta.chunk_grid.edges if meta.codecs.is_sharded else None,
        meta.dimension_names,
    )


def _table(rows: Iterable[tuple[str, str]]) -> str:
    lines = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    return f'<table class="bzr-facts"><tbody>{lines}</tbody></table>'


def _attributes(attributes: Mapping[str, Any]) -> str:
    if not attributes:
        return ""
    shown = [(name, _value(value)) for name, value in list(attributes.items())[:_MOST_ATTRIBUTES]]
    if len(attributes) > len(shown):
        shown.append(("\N{HORIZONTAL ELLIPSIS}", f"and {len(attributes) - len(shown):,} more"))
    return f"<details><summary>Attributes ({len(attributes):,})</summary>{_table(shown)}</details>"


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "\N{HORIZONTAL ELLIPSIS}"


def _tree(store: Store, path: str, members: list[Child]) -> str:
    inside: dict[str, list[Child]] = {}
    for child in members:
        inside.setdefault(child.name.rpartition("/")[0], []).append(child)
    return _branch(store, path, inside, "")


def _branch(store: Store, path: str, inside: Mapping[str, list[Child]], group: str) -> str:
    items = "".join(f"<li>{_node(store, path, inside, child)}</li>" for child in inside.get(group, ()))
    return f"<ul>{items}</ul>" if items else ""


def _node(store: Store, path: str, inside: Mapping[str, list[Child]], child: Child) -> str:
    name = f"<b>{escape(child.name.rpartition('/')[2])}</b>"
    if child.error is not None:
        why = escape(child.error.line)
        return f'<span class="bzr-flat">{name}</span> <span class="bzr-bad">{why}</span>'
    if isinstance(child.meta, ArrayMeta):
        size = stored(store, chunk_prefix(join(path, child.name), child.meta), _FEW, _PATIENCE / 10)
        summary = f"{shape_text(child.meta.shape)}  {child.meta.dtype}"
        pale = ", ".join(filter(None, (_named(child.meta), ratio_text(facts.raw_bytes(child.meta), size))))
        markup = f'<span class="bzr-mono">{escape(summary)}</span> <span class="bzr-pale">{escape(pale)}</span>'
        leaf = f'<div class="bzr-leaf">{_facts(child.meta, size)}</div>'
        return f"<details><summary>{name}{markup}</summary>{leaf}</details>"
    branch = _branch(store, path, inside, child.name)
    if not branch:
        return f'<span class="bzr-flat">{name}</span> <span class="bzr-pale">group</span>'
    markup = f'<span class="bzr-pale">{len(inside[child.name]):,}</span>'
    return f"<details open><summary>{name}{markup}</summary>{branch}</details>"


def _named(meta: ArrayMeta) -> str:
    names = meta.dimension_names
    return "" if names is None or not any(names) else "(" + ", ".join(name or "-" for name in names) + ")"
