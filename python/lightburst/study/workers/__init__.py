"""Workers that compute the runs of a study: threads, processes, or a cluster."""
