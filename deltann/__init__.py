"""DeltaNN: does a model behave the same after conversion, compilation and deployment as before?"""

__version__ = "0.1.0"
