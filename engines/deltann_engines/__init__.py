"""Loads, describes and runs the models of every framework."""
