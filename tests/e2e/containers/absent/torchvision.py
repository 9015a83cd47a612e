"""Stands in for torchvision where PyTorch is left out of an image: its import has to come before TensorFlow's."""
