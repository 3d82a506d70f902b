"""Running a kernel over a batch until every sample is done."""
