"""Manifests: checksums of stored objects, recorded in a file to find out later what has changed."""
