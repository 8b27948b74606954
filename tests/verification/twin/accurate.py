"""Counts of marked segments in acknowledgements: AccECN, RFC 9768."""

from twin.units import Block, Packet

#: The field ACE before the first mark, of a SYN, and of a SYN+ACK and its acknowledgement.
FIRST, REQUEST, NOT_CAPABLE = 5, 7, 2


def field(kind: str, number: int, marks: int, forward: bool) -> int:
    """The field ACE of a packet whose endpoint has received `marks` marked segments."""
    if kind == "syn":
        return REQUEST
    if kind == "syn+ack" or (kind == "ack" and forward and number == 0):
        return NOT_CAPABLE
    return (FIRST + marks) % 8


def most_likely(least: int, segments: int) -> int:
    """Section 3.2.2.5.2: the largest number of marks of which `segments` may have been."""
    marks: int = max([least, *range(least, segments + 1, 8)])
    return marks


class Feedback:
    """What the sender knows of the marks: `told` of them, and the bytes that have arrived."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.told = 0
        self.blocks: set[Block] = set()
        self.known = 0
        self.newest = -1

    def arrived(self, una: int) -> int:
        """Bytes acknowledged, in order or by SACK blocks."""
        total = end = una
        for begin, after in sorted(self.blocks):
            total += max(after, end) - max(begin, end)
            end = max(after, end)
        return total

    def hear(self, packet: Packet, una: int) -> int:
        """The marks of which an acknowledgement tells; `una` includes it."""
        self.blocks |= {block for block in packet.blocks if block[0] >= una}
        before, self.known = self.known, self.arrived(una)
        stamp = -1 if packet.stamp is None else packet.stamp
        before_stamp, self.newest = self.newest, max(self.newest, stamp)
        if self.known == before and stamp <= before_stamp:
            return 0
        least = (packet.ace - FIRST - self.told) % 8
        marks = most_likely(least, -(-(self.known - before) // self.most))
        self.told += marks
        return marks
