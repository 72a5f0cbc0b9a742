"""How a follow-up answer is read: unwrapped, its deciding statement found, the value in that statement read."""
