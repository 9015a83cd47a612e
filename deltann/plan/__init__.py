"""Planning is pure: a study and the descriptions of its models and data in, jobs out, no I/O."""
