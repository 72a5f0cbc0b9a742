"""How an answer is read: unwrapped, its numbers and labels found, tied together, and its problems named."""
