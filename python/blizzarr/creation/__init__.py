"""Making nodes from a user's arguments: chunk and shard shapes, codecs, attributes, and the array itself."""
