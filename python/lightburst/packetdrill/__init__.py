"""Scripts of packetdrill, carried out against the sender of today's Linux.

The language is that of packetdrill (Cardwell et al., USENIX ATC 2013), in the part that tests of
senders use. The parser gives a `Script`, the interpreter an `Outcome`.
"""

from lightburst.packetdrill.interpreter import run
from lightburst.packetdrill.outcome import Difference, Outcome
from lightburst.packetdrill.parser import parse
from lightburst.packetdrill.script import Script

__all__ = ["Difference", "Outcome", "Script", "parse", "run"]
