"""Starting a thread, where there may be none to be had."""

from __future__ import annotations

import _thread
from collections.abc import Callable


def started(work: Callable[..., object], *args: object) -> bool:
    """Start a thread that does not keep the process alive; False if the system has none left.

    Not by `threading`, which waits for the thread to say that it runs. An exception that somebody
    sets for the thread that starts another may come to the new one (seen in Python 3.11), and that
    ends before it says so.
    """
    try:
        _thread.start_new_thread(work, args)
    except RuntimeError as error:
        if "new thread" not in str(error):  # a signal handler may raise whatever it likes
            raise
        # There are too many, or Python is on its way out.
        return False
    return True
