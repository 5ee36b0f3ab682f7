"""Arrays and groups as people look at them: facts and sizes, HTML for notebooks, pictures."""
