"""Inputs as they are stored: shards of at most 500, photos as their own bytes, tensors as arrays."""

from deltann.data.shards import read_shard, write_image_shard, write_tensor_shard

__all__ = ["read_shard", "write_image_shard", "write_tensor_shard"]
