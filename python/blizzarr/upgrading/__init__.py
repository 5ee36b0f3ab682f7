"""Upgrading a hierarchy in place: new documents in another format, and the same chunks."""
