"""Help for your own tests: a contract for stores."""
