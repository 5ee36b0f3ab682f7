"""Giving a hierarchy the documents of another format, while its chunks stay what they are."""
