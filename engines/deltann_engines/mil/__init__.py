"""CoreML packages read and evaluated without CoreML: a stand-in that says so, not Apple's runtime."""

NAME = "mil-reference (DeltaNN's evaluator, not CoreML)"
"""What results call it."""
