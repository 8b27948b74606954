"""Parts of a calibration: settings that are run, waves, search, confirmation, result."""
