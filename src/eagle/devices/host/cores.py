"""The cores this process may use, and the cache each of them owns."""

from __future__ import annotations

import functools
import math
import os
import re

# Paths are strings here: pathlib would take a tenth of the time in which hawk and eagle load.
ROOT = ""
"""What stands before the paths of the system's files; tests write others."""
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def allowed_cores() -> int:
    """Cores the scheduler lets this process use, without its quota of time."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # systems that cannot pin a process
        return os.cpu_count() or 1


_latest = 0


def usable_cores() -> int:
    """Threads that can run at once: what affinity and the control group's quota both allow.

    A process may change its affinity while it runs, so that is asked each time; 2 us.
    """
    global _latest  # noqa: PLW0603 - the answer is one for the process
    quota, cores = _quota(), allowed_cores()
    _latest = cores if quota is None else max(1, min(cores, math.ceil(quota)))
    return _latest


def usable_cores_lately() -> int:
    """What `usable_cores` last said, where a guess will do."""
    return _latest or usable_cores()


@functools.cache
def _quota() -> float | None:
    """The quota when it was first asked for: reading it takes some 50 us."""
    return cpu_quota()


def cpu_quota(root: str = ROOT) -> float | None:
    """Cores' worth of time that the control group grants; None without a limit.

    A container sees its own group at the top of the file system; elsewhere the limits of all groups
    above count too.
    """
    quotas = [quota for group in _groups(root) if (quota := _quota_of(group)) is not None]
    return min(quotas, default=None)


def _groups(root: str) -> list[str]:
    """Folders that may hold a limit of this process, in both versions of control groups."""
    text = _read(f"{root}/proc/self/cgroup") or ""
    folders: list[str] = []
    for line in text.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "cpu" not in controllers.split(","):
            continue
        top = f"{root}/sys/fs/cgroup{'/cpu' if controllers else ''}"
        inner = path.strip("/")
        while inner:
            folders.append(f"{top}/{inner}")
            inner = inner.rpartition("/")[0]
        folders.append(top)
    return folders


def _quota_of(group: str) -> float | None:
    """The limit written in one folder: `cpu.max` (version 2) or `cpu.cfs_*` (version 1)."""
    words = (_read(f"{group}/cpu.max") or "").split()
    if len(words) != 2:
        quota, period = (_read(f"{group}/cpu.cfs_{name}_us") for name in ("quota", "period"))
        words = [quota or "", period or ""]
    try:
        quota, period = (int(word) for word in words)
    except ValueError:  # no such file, or "max": no limit
        return None
    return quota / period if quota > 0 and period > 0 else None


@functools.cache
def l2_bytes(root: str = ROOT) -> int | None:
    """Bytes of second-level cache that one core owns; None where the system does not say."""
    core = f"{root}/sys/devices/system/cpu/cpu0"
    for number in range(8):
        cache = f"{core}/cache/index{number}"
        if (_read(f"{cache}/level") or "").strip() == "2":
            return _share(core, cache)
    return None


def _share(core: str, cache: str) -> int | None:
    """The size of a cache over the cores that share it. Hyper-threads of a core count as one."""
    size = re.fullmatch(r"(\d+)([KMG]?)", (_read(f"{cache}/size") or "").strip())
    if size is None:
        return None
    siblings = _cpus(_read(f"{core}/topology/thread_siblings_list") or "")
    sharers = _cpus(_read(f"{cache}/shared_cpu_list") or "")
    cores = max(1, len(sharers)) / max(1, len(siblings))
    return int(int(size[1]) * _UNITS[size[2]] / max(1, cores))


def _cpus(text: str) -> set[int]:
    """The numbers of a list such as `0-3,8`."""
    cpus: set[int] = set()
    for part in text.strip().split(","):
        ends = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if ends is not None:
            cpus.update(range(int(ends[1]), int(ends[2] or ends[1]) + 1))
    return cpus


def _read(path: str) -> str | None:
    """What a file of the system says; None where it says nothing."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:  # noqa: PTH123 - see above
            return file.read()
    except OSError:
        return None
