"""What this machine says about itself, read from files made here."""

from pathlib import Path

import pytest

from eagle.devices.host.cores import cpu_quota, l2_bytes, usable_cores


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="ascii")
    return root


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({}, None),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "max 100000"}, None),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "150000 100000"}, 1.5),
        (
            {
                "proc/self/cgroup": "0::/a/b",
                "sys/fs/cgroup/a/b/cpu.max": "max 100000",
                "sys/fs/cgroup/a/cpu.max": "200000 100000",
                "sys/fs/cgroup/cpu.max": "400000 100000",
            },
            2.0,
        ),
        (
            {
                "proc/self/cgroup": "4:memory:/x\n1:cpu,cpuacct:/job",
                "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "300000",
                "sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000",
            },
            3.0,
        ),
        (
            {
                "proc/self/cgroup": "1:cpu:/",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            },
            None,
        ),
    ],
)
def test_the_quota_is_the_smallest_of_all_groups(
    files: dict[str, str], quota: float | None, tmp_path: Path
) -> None:
    assert quota == cpu_quota(str(write(tmp_path, files)))


CACHE = "sys/devices/system/cpu/cpu0/cache"
SIBLINGS = "sys/devices/system/cpu/cpu0/topology/thread_siblings_list"


@pytest.mark.parametrize(
    ("files", "size"),
    [
        ({}, None),
        (
            {
                f"{CACHE}/index0/level": "1",
                f"{CACHE}/index0/size": "32K",
                f"{CACHE}/index2/level": "2",
                f"{CACHE}/index2/size": "512K",
                f"{CACHE}/index2/shared_cpu_list": "0",
                SIBLINGS: "0",
            },
            512 << 10,
        ),
        (
            {
                f"{CACHE}/index2/level": "2",
                f"{CACHE}/index2/size": "2M",
                f"{CACHE}/index2/shared_cpu_list": "0,4",
                SIBLINGS: "0,4",
            },
            2 << 20,
        ),
        (
            {
                f"{CACHE}/index2/level": "2",
                f"{CACHE}/index2/size": "4096K",
                f"{CACHE}/index2/shared_cpu_list": "0-3",
            },
            1 << 20,
        ),
        ({f"{CACHE}/index2/level": "2", f"{CACHE}/index2/size": "?"}, None),
    ],
)
def test_the_cache_of_a_core_is_its_share(
    files: dict[str, str], size: int | None, tmp_path: Path
) -> None:
    assert size == l2_bytes(str(write(tmp_path, files)))


def test_there_is_a_core_to_use() -> None:
    assert usable_cores() >= 1
