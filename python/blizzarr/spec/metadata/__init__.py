"""What a spec may demand of the metadata of stored arrays: one engine, and a table of members for each driver."""
