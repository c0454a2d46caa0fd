"""Pictures whose file says that they are to be turned before anybody looks at them."""

from __future__ import annotations

from pathlib import Path


def is_turned(path: Path) -> bool:
    """Whether a picture's EXIF orientation is another than upright; False for what cannot be read."""
    from PIL import ExifTags, Image

    try:
        with Image.open(path) as image:
            return image.getexif().get(ExifTags.Base.Orientation, 1) not in (0, 1)
    except (OSError, ValueError, SyntaxError):  # what Pillow raises on broken files; told elsewhere
        return False
