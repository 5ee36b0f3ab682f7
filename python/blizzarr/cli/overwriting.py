"""Messages about files that prevent removing or replacing a node."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

KeepForeignOption: TypeAlias = Annotated[
    bool, typer.Option("--keep-foreign", help="Go ahead even if files that are not Zarr's lie there; those files stay.")
]
