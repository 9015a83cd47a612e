"""Inputs: data sets as people give them, checked; and the shards of at most 500 that they are stored as."""

from deltann.data.arrays import read_arrays
from deltann.data.npz import read_npz
from deltann.data.photos import ENDINGS, Photo, find_photos
from deltann.data.shards import read_shard, write_image_shard, write_tensor_shard

__all__ = [
    "ENDINGS",
    "Photo",
    "find_photos",
    "read_arrays",
    "read_npz",
    "read_shard",
    "write_image_shard",
    "write_tensor_shard",
]
