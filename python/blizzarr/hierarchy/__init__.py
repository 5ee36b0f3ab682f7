"""The tree of groups and arrays: finding, placing, changing and removing nodes."""
