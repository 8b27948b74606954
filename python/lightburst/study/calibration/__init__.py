"""Which settings of open parameters are implausible: emulators, history matching, a search."""
