"""The command `hawk`: `hawk cache why | size | clear` looks after the compiled kernels on disk."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from hawk.cache.folder import Folder
from hawk.cache.journal import Miss, misses
from hawk.cache.lookup import NOWHERE
from hawk.config import config


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="hawk", description="Look after what hawk compiled.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    cache = commands.add_parser("cache", help="the compiled kernels on disk")
    actions = cache.add_subparsers(dest="action", required=True, metavar="ACTION")
    why = actions.add_parser("why", help="say why kernels were compiled, the latest last")
    why.add_argument("kernel", nargs="?", default="", help="only kernels with this in their name")
    why.add_argument(
        "--last", type=int, default=20, metavar="N", help="how many (default: %(default)s)"
    )
    actions.add_parser("size", help="say where the cache is and how large")
    actions.add_parser("clear", help="remove every compiled kernel")
    options = parser.parse_args(argv)
    path = config().cache_dir
    if path is None:
        return _complain(f"there is no cache: {NOWHERE}")
    folder = Folder(path, config().cache_max_bytes)
    try:
        match options.action:
            case "why":
                _why(folder, options.kernel, options.last)
            case "size":
                _size(folder)
            case _:
                _clear(folder)
    except OSError as error:
        return _complain(f"{folder.path}: {error.strerror or error}")
    return 0


def _why(folder: Folder, kernel: str, last: int) -> None:
    noted = [miss for miss in misses(folder.notes()) if kernel in miss.kernel]
    for miss in noted[max(0, len(noted) - last) :]:
        _say(_sentence(miss))
    if not noted:
        _say(f"nothing was compiled{f' that is called {kernel}' if kernel else ''}")


def _sentence(miss: Miss) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(miss.when))
    return f"{when}  {miss.kernel} ({miss.file}), {miss.parts.get('variant', '')}: {miss.why}"


def _size(folder: Folder) -> None:
    programs, size = folder.size()
    limit = f"at most {folder.max_bytes:,} bytes are kept"
    off = "" if config().cache else "; HAWK_CACHE=0 turns it off"
    _say(f"{folder.path}: {_counted(programs)}, {size:,} bytes; {limit}{off}")


def _clear(folder: Folder) -> None:
    programs, size = folder.clear()
    _say(f"{folder.path}: removed {_counted(programs)}, {size:,} bytes")


def _counted(programs: int) -> str:
    return f"{programs} program{'' if programs == 1 else 's'}"


def _say(text: str) -> None:
    print(text)


def _complain(text: str) -> int:
    print(f"hawk: {text}", file=sys.stderr)
    return 1
