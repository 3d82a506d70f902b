"""Starting a thread, where there may be none to be had."""

from __future__ import annotations

import threading
from collections.abc import Callable


def started(name: str, work: Callable[..., object], *args: object) -> bool:
    """Start a thread that does not keep the process alive; False if the system has none left."""
    thread = threading.Thread(target=work, args=args, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        if "new thread" not in str(error):  # a signal handler may raise whatever it likes
            raise
        # There are too many, or Python is on its way out.
        return False
    return True
