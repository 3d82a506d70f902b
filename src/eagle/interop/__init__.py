"""Arrays of other libraries, one file for each: where their memory is, and what to write."""
