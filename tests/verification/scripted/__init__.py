"""One TCP flow with scripted losses: the behaviour of the sender, flavour by flavour."""
