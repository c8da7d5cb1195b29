"""The oracle: slow, plain twins of the fast kernels, written from the documents alone. Tests compare against it."""
