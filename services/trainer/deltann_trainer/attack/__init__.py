"""Attacks on models before they are converted: one file each, and the table of them."""
