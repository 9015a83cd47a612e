"""Relax passes of our own: what TVM 0.27 lacks, or does too slowly to use."""
