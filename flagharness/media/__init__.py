"""Images and other media: what a file is, whether it is sound, and how it goes to the endpoint.

Importing this package loads neither Pillow nor numpy; both wait for the first picture that needs them.
"""

from __future__ import annotations

from flagharness.media._audio import check_audio
from flagharness.media._check import check_image
from flagharness.media._encode import EncodedImage, encode_image
from flagharness.media._limits import LIMITS_VERSION, ImageLimits
from flagharness.media._rules import MediaRules
from flagharness.media._sniff import SNIFF_BYTES, MediaType, sniff
from flagharness.media._turned import is_turned
from flagharness.media._video import Frame, FrameRule, check_video, choose_frames, read_frames

__all__ = [
    "LIMITS_VERSION",
    "SNIFF_BYTES",
    "EncodedImage",
    "Frame",
    "FrameRule",
    "ImageLimits",
    "MediaRules",
    "MediaType",
    "check_audio",
    "check_image",
    "check_video",
    "choose_frames",
    "encode_image",
    "is_turned",
    "read_frames",
    "sniff",
]
