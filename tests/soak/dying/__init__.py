"""Every kind of change, and processes that die in the midst of it."""
