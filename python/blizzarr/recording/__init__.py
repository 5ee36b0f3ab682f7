"""Checksums of what is stored, kept beside the data: whether they are still what they were."""
