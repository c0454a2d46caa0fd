"""Media types from the first bytes of a file, never from its name."""

from __future__ import annotations

from typing import Literal, NamedTuple


class MediaType(NamedTuple):
    """What a file is, as told by its content."""

    mime: str
    """For data URLs and Content-Type, e.g. ``image/jpeg``."""

    extension: str
    """The usual file name ending with its dot, e.g. ``.jpg``."""

    kind: Literal["image", "video", "audio"]
    """The family; decides whether the file can stand in img_path, video_path or audio_path."""


SNIFF_BYTES = 64
"""So many first bytes are enough for :func:`sniff`; more do no harm."""

_MP4 = MediaType("video/mp4", ".mp4", "video")
_QUICKTIME = MediaType("video/quicktime", ".mov", "video")
_AVIF = MediaType("image/avif", ".avif", "image")
_HEIC = MediaType("image/heic", ".heic", "image")
_TIFF = MediaType("image/tiff", ".tif", "image")
_GIF = MediaType("image/gif", ".gif", "image")
_MP3 = MediaType("audio/mpeg", ".mp3", "audio")

_PREFIXES: tuple[tuple[bytes, MediaType], ...] = (
    (b"\xff\xd8\xff", MediaType("image/jpeg", ".jpg", "image")),
    (b"\x89PNG\r\n\x1a\n", MediaType("image/png", ".png", "image")),
    (b"GIF87a", _GIF),
    (b"GIF89a", _GIF),
    (b"II*\0", _TIFF),
    (b"MM\0*", _TIFF),
    (b"II+\0", _TIFF),  # BigTIFF
    (b"MM\0+", _TIFF),
    (b"FLV\x01", MediaType("video/x-flv", ".flv", "video")),
    (b"fLaC", MediaType("audio/flac", ".flac", "audio")),
    (b"ID3", _MP3),
)

_RIFF_FORMS = {
    b"WEBP": MediaType("image/webp", ".webp", "image"),
    b"AVI ": MediaType("video/x-msvideo", ".avi", "video"),
    b"WAVE": MediaType("audio/wav", ".wav", "audio"),
}

_ISO_BRANDS = {
    b"avif": _AVIF,
    b"avis": _AVIF,
    b"heic": _HEIC,
    b"heix": _HEIC,
    b"heim": _HEIC,
    b"heis": _HEIC,
    b"hevc": _HEIC,
    b"hevx": _HEIC,
    b"qt  ": _QUICKTIME,
    b"M4A ": MediaType("audio/mp4", ".m4a", "audio"),
}

_BMP_HEADER_SIZES = {12, 16, 40, 52, 56, 64, 108, 124}


def sniff(head: bytes) -> MediaType | None:
    """Tell the media type from the first bytes of a file.

    Args:
        head: The beginning of the file, at least :data:`SNIFF_BYTES` of it if the file is that long.

    Returns:
        The type, or None for anything that is not one of: JPEG, PNG, GIF, WebP, BMP, TIFF, AVIF, HEIC;
        MP4, QuickTime, WebM, Matroska, AVI, FLV, Ogg Theora; WAV, MP3, FLAC, Ogg, M4A.

    Example:
        >>> sniff(b"GIF89a...")
        MediaType(mime='image/gif', extension='.gif', kind='image')
        >>> sniff(b"<html>") is None
        True
    """
    for prefix, media_type in _PREFIXES:
        if head.startswith(prefix):
            return media_type
    if head[:4] == b"RIFF":
        return _RIFF_FORMS.get(head[8:12])
    if head[4:8] == b"ftyp":
        return _iso_media_type(head)
    if head[4:8] in (b"moov", b"mdat", b"wide"):  # QuickTime files older than the ftyp box
        return _QUICKTIME
    if head[:4] == b"\x1a\x45\xdf\xa3":  # EBML; its DocType tells the two apart
        if b"webm" in head[:SNIFF_BYTES]:
            return MediaType("video/webm", ".webm", "video")
        return MediaType("video/x-matroska", ".mkv", "video")
    if head[:4] == b"OggS":
        if head[29:35] == b"theora":
            return MediaType("video/ogg", ".ogv", "video")
        return MediaType("audio/ogg", ".ogg", "audio")
    if head[:2] == b"BM" and int.from_bytes(head[14:18], "little") in _BMP_HEADER_SIZES:
        return MediaType("image/bmp", ".bmp", "image")
    return _MP3 if _is_mp3_frame(head) else None


def _iso_media_type(head: bytes) -> MediaType:
    """Type of an ISO base media file: by its major brand, else by the compatible brands, else MP4.

    ``mif1`` and ``msf1`` name only the container, so the codec stands among the compatible brands.
    """
    major = head[8:12]
    if major in (b"mif1", b"msf1"):
        box_size = min(int.from_bytes(head[:4], "big"), len(head))
        compatible = {head[start : start + 4] for start in range(16, box_size, 4)}
        return _AVIF if compatible & {b"avif", b"avis"} else _HEIC
    return _ISO_BRANDS.get(major, _MP4)


def _is_mp3_frame(head: bytes) -> bool:
    """Whether a bare MPEG audio frame of layer III starts here (a file without an ID3 tag)."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE6 != 0xE2:
        return False
    version_is_reserved = head[1] & 0x18 == 0x08
    bitrate_is_invalid = head[2] & 0xF0 == 0xF0
    sample_rate_is_reserved = head[2] & 0x0C == 0x0C
    return not (version_is_reserved or bitrate_is_invalid or sample_rate_is_reserved)
