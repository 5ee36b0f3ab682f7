"""Interoperability: every implementation reads what every other has written. How it is built: README.md."""
