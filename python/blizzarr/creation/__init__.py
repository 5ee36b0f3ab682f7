"""From what a user asks for to a new node: chunk and shard shapes, codecs, attributes, and the array itself."""
