"""One module per implementation; what they answer to is in :mod:`interop.message`."""
