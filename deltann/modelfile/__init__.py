"""What a model file is, told by its structure and by no framework: its format, and whether it is whole."""

from deltann.modelfile.inspect import PICKLE, READABLE, ModelFile, inspect

__all__ = ["PICKLE", "READABLE", "ModelFile", "inspect"]
