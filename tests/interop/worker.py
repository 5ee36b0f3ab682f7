"""The process of a Python peer: `python -m interop.worker ADAPTER` answers messages until its input ends."""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from types import ModuleType

from interop.message import Message


def answer(adapter: ModuleType, message: Message) -> Message:
    function = getattr(adapter, message["verb"], None)
    if function is None:
        return {"error": f"the peer has no {message['verb']}"}
    try:
        result: Message = function(message)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return result


def main() -> None:
    warnings.simplefilter("ignore")
    adapter = importlib.import_module(f"interop.adapters.{sys.argv[1]}")
    # What a library prints must not end up between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(answer(adapter, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
