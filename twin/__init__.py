"""racktwin: a discrete-event digital twin of a datacenter that runs large training jobs."""
