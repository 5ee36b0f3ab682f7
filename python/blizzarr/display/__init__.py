"""Arrays and groups for people to look at: facts and sizes, HTML for notebooks, pictures."""
