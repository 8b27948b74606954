"""The loss recoveries by name."""

from twin.rack import RackTlp
from twin.recovery import NewReno, Recovery, Reno, Tahoe
from twin.rr_tcp import RrTcp
from twin.sack import Sack, Sack1

RECOVERIES: dict[str, type[Recovery]] = {
    "tahoe": Tahoe,
    "reno": Reno,
    "new-reno": NewReno,
    "sack": Sack,
    "sack1": Sack1,
    "rack-tlp": RackTlp,
    "rr-tcp": RrTcp,
}
