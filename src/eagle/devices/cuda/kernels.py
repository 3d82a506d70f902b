"""Kernels of eagle's own that a run on a GPU consists of, besides the user's: written for hawk."""

# Kernels are ordinary Python to a type checker, which cannot know what annotations mean to us.
# pyright: reportUnusedVariable=false

from __future__ import annotations

import numpy as np

import hawk
from eagle.pace import is_due, is_through, next_steps
from hawk import Bool, Index, Int32, Mutable, Param, Table

CHUNK = 256
"""Samples that are counted together."""
GROUP = 64
"""Chunks that are counted together."""


@hawk.kernel
def decide(
    asked: Mutable[Index],
    ended: Mutable[Index],
    live: Mutable[Index],
    longest: Mutable[Index],
    last: Mutable[Index],
    pace: Mutable[Index],
    going: Mutable[Index],
    left: Mutable[Index],
    taken: Mutable[Index],
    furthest: Mutable[Index],
    launches: Mutable[Index],
    picks: Mutable[Index],
    mapped: Mutable[Index],
    due: Mutable[Index],
    goes: Mutable[Index],
    least: Param[Index],
    most: Param[Index],
    crowd: Param[Index],
):
    """What comes after a launch that asked for so many steps. The words are those of `Told`."""
    going -= ended
    furthest = taken + (asked if going > 0 else longest)
    taken += asked
    left -= asked
    launches += 1
    last = asked
    pace = next_steps(pace, ended, going, least, most)
    asked = min(pace, left)
    goes = 1 if going > 0 and left > 0 else 0
    if goes > 0 and is_due(going, live, crowd):
        live = going
        picks += 1
        mapped = 1
        due = 1
    ended = 0
    longest = 0


@hawk.kernel
def decide_in_turns(
    asked: Mutable[Index],
    ended: Mutable[Index],
    longest: Mutable[Index],
    following: Mutable[Index],
    holding: Mutable[Index],
    held: Mutable[Index],
    last: Mutable[Index],
    going: Mutable[Index],
    left: Mutable[Index],
    taken: Mutable[Index],
    furthest: Mutable[Index],
    launches: Mutable[Index],
    goes: Mutable[Index],
    count: Param[Index],
):
    """What comes after a launch in turns. Several of them may take the steps asked for."""
    going -= ended
    launches += 1
    last = asked
    furthest = max(furthest, taken + longest)
    held = holding
    goes = 1
    if going <= 0 or is_through(following, count, holding):
        taken += asked
        left -= asked
        longest = 0
        following = 0
        held = 0
        goes = 0
    ended = 0
    holding = 0


@hawk.kernel
def counted(over: Table[Bool], count: Param[Index]) -> Index:
    """How many samples of a chunk go on."""
    begin = CHUNK * hawk.sample_index()
    going = hawk.index(0)
    for place in range(begin, min(begin + CHUNK, count)):
        if not over[place]:
            going += 1
    return going


@hawk.kernel
def summed(counts: Table[Index], count: Param[Index]) -> Index:
    """How many samples of a group of chunks go on."""
    begin = GROUP * hawk.sample_index()
    total = hawk.index(0)
    for place in range(begin, min(begin + GROUP, count)):
        total += counts[place]
    return total


@hawk.kernel
def begun(counts: Table[Index], sums: Table[Index]) -> Index:
    """How many samples before a chunk go on."""
    chunk = hawk.sample_index()
    group = chunk // GROUP
    total = hawk.index(0)
    for place in range(group):
        total += sums[place]
    for place in range(GROUP * group, chunk):
        total += counts[place]
    return total


@hawk.kernel
def picked(
    over: Table[Bool],
    begins: Table[Index],
    going: Table[Index],
    count: Param[Index],
    chunks: Param[Index],
) -> Index:
    """The sample that stands at a place among those that go on; else `count`."""
    place = hawk.sample_index()
    sample = count
    if place < going[0]:
        low, high = hawk.index(0), chunks
        while high - low > 1:  # the last of the chunks that begins no later
            middle = (low + high) // 2
            if begins[middle] <= place:
                low = middle
            else:
                high = middle
        left = place - begins[low]
        sample = CHUNK * low
        while over[sample] or left > 0:
            if not over[sample]:
                left -= 1
            sample += 1
    return sample


@hawk.kernel
def greatest(numbers: Table[Index], count: Param[Index]) -> Index:
    """The greatest number of a chunk of numbers that are not negative."""
    begin = CHUNK * hawk.sample_index()
    most = hawk.index(0)
    for place in range(begin, min(begin + CHUNK, count)):
        most = max(most, numbers[place])
    return most


@hawk.kernel
def byte_at(table: Table[Bool], places: Table[Index]) -> Bool:
    """The number of another sample."""
    return table[places[hawk.sample_index()]]


@hawk.kernel
def word_at(table: Table[Int32], places: Table[Index]) -> Int32:
    """The number of another sample."""
    return table[places[hawk.sample_index()]]


@hawk.kernel
def long_at(table: Table[Index], places: Table[Index]) -> Index:
    """The number of another sample."""
    return table[places[hawk.sample_index()]]


AT = {1: (byte_at, np.bool), 4: (word_at, np.int32), 8: (long_at, np.int64)}
"""For numbers of so many bytes, of whatever type: what takes them, and as what."""
