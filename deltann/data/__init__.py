"""Inputs: data sets as people give them, checked; and the shards of at most 500 that they are stored as."""

from deltann.data.arrays import read_arrays
from deltann.data.npz import read_npz
from deltann.data.photos import ENDINGS, Photo, find_photos
from deltann.data.sentences import Sentence, is_text_folder, read_sentences, tokens, vocabulary
from deltann.data.shards import read_shard, write_image_shard, write_tensor_shard
from deltann.data.zipped import ZippedPhoto, find_zipped

__all__ = [
    "ENDINGS",
    "Photo",
    "Sentence",
    "ZippedPhoto",
    "find_photos",
    "find_zipped",
    "is_text_folder",
    "read_arrays",
    "read_npz",
    "read_sentences",
    "read_shard",
    "tokens",
    "vocabulary",
    "write_image_shard",
    "write_tensor_shard",
]
