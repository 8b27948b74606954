"""Where the runs of a study are computed: in threads of this process, or on a cluster."""
