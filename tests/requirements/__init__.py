"""Which line of the requirements is tested where; see `page`."""
