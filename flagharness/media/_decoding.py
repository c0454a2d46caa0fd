"""Opening pictures with Pillow: one decoder per sniffed type, and every failure a DataError.

The decoders are used directly. ``PIL.Image.open`` would try each format it knows in turn, and would warn
about large pictures; here a file is read as what its first bytes say, and large ones are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import IO

from PIL import Image, ImageFile
from PIL.AvifImagePlugin import AvifImageFile
from PIL.BmpImagePlugin import BmpImageFile
from PIL.GifImagePlugin import GifImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.TiffImagePlugin import TiffImageFile
from PIL.WebPImagePlugin import WebPImageFile

from flagharness.errors import DataError
from flagharness.media._sniff import MediaType

MAX_PIXELS = 178_956_970
"""More pixels than this are refused: Pillow's own bound between a large picture and a decompression bomb."""

_DECODERS: dict[str, Callable[[IO[bytes]], ImageFile.ImageFile]] = {
    "image/avif": AvifImageFile,
    "image/bmp": BmpImageFile,
    "image/gif": GifImageFile,
    "image/jpeg": JpegImageFile,
    "image/png": PngImageFile,
    "image/tiff": TiffImageFile,
    "image/webp": WebPImageFile,
}


def open_image(stream: IO[bytes], media_type: MediaType) -> ImageFile.ImageFile:
    """Read the header of a picture; the pixels stay where they are until :func:`decode`.

    Raises:
        DataError: If the type has no decoder here, the header is damaged, or there are too many pixels.
    """
    decoder = _DECODERS.get(media_type.mime)
    if decoder is None:
        raise DataError(f"cannot decode {media_type.mime}: convert it to JPEG or PNG")
    try:
        image = decoder(stream)
    except Image.DecompressionBombError as error:
        raise DataError(f"cannot decode {media_type.mime}: more than {MAX_PIXELS} pixels") from error
    except Exception as error:  # decoders raise almost anything on damaged bytes
        raise DataError(f"cannot decode {media_type.mime}: damaged header ({error})") from error
    if image.width * image.height > MAX_PIXELS:
        raise DataError(
            f"cannot decode {media_type.mime}: {image.width}x{image.height} are more than {MAX_PIXELS} pixels"
        )
    return image


def decode(image: ImageFile.ImageFile) -> None:
    """Decode the pixels (of the first frame) in place.

    Raises:
        DataError: If the file is cut off or damaged.
    """
    try:
        image.load()
    except Exception as error:  # as above
        raise DataError(
            f"cannot decode {image.get_format_mimetype()}: cut off or damaged ({error})"
        ) from error
