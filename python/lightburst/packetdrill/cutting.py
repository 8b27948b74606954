"""The data of an application, cut into segments as the kernel cuts it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Cuts:
    """Segments of what was written; their data is counted from 0.

    The sender counts in whole segments, as the kernel does: each of these is a full one to it,
    however short.

    Parameters
    ----------
    mss : int
        Payload of a full segment.
    """

    def __init__(self, mss: int) -> None:
        self.mss = mss
        # Ends of the segments, after a first 0.
        self.ends = [0]
        # Segments of which the last may not grow.
        self._closed = 0

    @property
    def written(self) -> int:
        """Bytes that were written."""
        return self.ends[-1]

    @property
    def count(self) -> int:
        """Number of segments."""
        return len(self.ends) - 1

    def last(self) -> int:
        """Return the length of the last segment."""
        return self.ends[-1] - self.ends[-2] if self.count else 0

    def write(self, size: int, sent: int, *, end_of_record: bool = False) -> None:
        """Add data, of `sent` segments in all that left.

        It extends the last segment, unless that left or ends a record (``MSG_EOR``).
        """
        end = self.written + size
        if self.count > max(sent, self._closed):
            self.ends.pop()
        while self.written < end:
            self.ends.append(min(self.written + self.mss, end))
        if end_of_record:
            self._closed = self.count

    def within(self, number: int) -> bool:
        """Return whether a byte number is within a full segment.

        Linux cuts what is left of those anew; a short one stays a segment (`tcp_tso_acked`).
        """
        place = bisect_left(self.ends, number)
        if number >= self.written or self.ends[place] == number:
            return False
        return self.ends[place] - self.ends[place - 1] == self.mss

    def down(self, number: int) -> int:
        """Return the sender's number of the border at or before a byte number."""
        return (bisect_right(self.ends, number) - 1) * self.mss

    def up(self, number: int) -> int:
        """Return the sender's number of the border at or after a byte number."""
        return bisect_left(self.ends, number) * self.mss

    def window(self, acknowledgement: int, size: int) -> int:
        """Return the window in which as many segments fit for the sender as in one of this size."""
        fits = self.down(acknowledgement + size) - self.down(acknowledgement)
        ends = acknowledgement + size >= self.written
        same = size >= fits if ends else size // self.mss * self.mss == fits
        return size if same else fits

    def bounds(self, number: int) -> tuple[int, int]:
        """Return the data of the segment that begins at a number of the sender."""
        place = number // self.mss
        return self.ends[place], self.ends[place + 1]
