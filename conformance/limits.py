"""How much of a stored log the tools of this project hold or read: limits of theirs, no rules of the format.

A log beyond one of them is not judged: that is neither a refusal nor a fault.
"""

LONGEST_LINE = 64 << 20
"""Bytes of one line. All of a line is held while it is read."""

LARGEST_CONTENT = 4 << 30
"""Bytes that the frames of one compressed log may expand to, so that a few bytes cannot keep a tool busy.

The published package has no such limit: it loads a log that expands to 1.5 GiB. It keeps all of it in
memory, and ends with an error beyond about 4 GiB, where Node's memory for objects ends by default. So
nothing is passed over here that a harness reads. A plain log is as long as its file, and has no limit.
"""

DEEPEST = 1_000_000
"""Levels that a value may nest. Each costs memory, and a line has room for 64 million of them."""
