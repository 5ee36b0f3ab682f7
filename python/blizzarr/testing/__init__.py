"""Help for your own tests: contracts for stores, Hypothesis strategies, and a reference model of the engine."""
