"""Which pass did it, and on which operators: delta debugging of builds, each in a process that may crash or hang."""
