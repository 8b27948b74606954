"""One TCP flow whose losses are scripted: what the sender does, flavour by flavour."""
