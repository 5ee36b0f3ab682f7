"""Any hierarchy that somebody could store, opened and read: data, or one of our errors, within a second.

See `__main__` for how it is run by atheris, which follows the code; `test_fuzz` runs some of it without.
"""
