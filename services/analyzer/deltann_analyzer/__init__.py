"""Differential comparison, statistics and reports."""
