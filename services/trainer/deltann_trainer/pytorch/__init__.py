"""Networks in PyTorch."""
