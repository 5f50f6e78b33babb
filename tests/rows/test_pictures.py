"""One picture file to pixels, and pixels to sheets and files."""

import io
import warnings

import numpy as np
import pytest
from PIL import Image

from nacre.rows.pictures import (
    contact_sheet,
    enlarged,
    picture_bytes,
    picture_size,
    read_picture,
    sheet,
)
from nacre.schema import ImageSchema

SMALL = ImageSchema(height=4, width=6)
FACES = ImageSchema(height=32, width=32, channels=3, crop=178, resize=True)


def saved(picture, form="PNG", **settings):
    file = io.BytesIO()
    picture.save(file, form, **settings)
    return file.getvalue()


def as_array(content, schema):
    return np.frombuffer(content, np.uint8).reshape(schema.shape)


@pytest.mark.parametrize("form", ["PNG", "BMP", "GIF", "TIFF", "WEBP"])
@pytest.mark.parametrize("channels", [1, 3])
def test_files_without_loss(form, channels):
    schema = ImageSchema(height=4, width=6, channels=channels)
    levels = np.random.default_rng(0).integers(0, 2, (4, 6, 1), np.uint8) * 255
    pixels = np.repeat(levels, channels, axis=2)
    picture = Image.fromarray(pixels[..., 0] if channels == 1 else pixels)
    content = saved(picture, form, **({"lossless": True} if form == "WEBP" else {}))
    assert np.array_equal(as_array(read_picture(content, schema), schema), pixels)
    assert picture_size(content)[:2] == (4, 6)


def test_gray_and_color_become_each_other():
    gray = saved(Image.new("L", (6, 4), 100))
    color = saved(Image.new("RGB", (6, 4), (100, 100, 100)))
    wanted = ImageSchema(height=4, width=6, channels=3)
    assert set(read_picture(gray, wanted)) == set(read_picture(color, SMALL)) == {100}
    assert picture_size(gray) == (4, 6, 1) and picture_size(color) == (4, 6, 3)


def test_faces_are_cut_around_their_center_and_shrunk():
    # CelebA's 178 x 218: what lies outside of the square in the middle does not matter.
    picture = np.zeros((218, 178, 3), np.uint8)
    picture[20:109, :, 0] = picture[109:198, :, 1] = 200
    content = saved(Image.fromarray(picture))
    found = as_array(read_picture(content, FACES), FACES)
    assert (found[:15, :, 0] == 200).all() and (found[17:, :, 1] == 200).all()
    assert not found[..., 2].any()
    picture[:20] = picture[198:] = 255
    assert read_picture(saved(Image.fromarray(picture)), FACES) == found.tobytes()
    too_small = saved(Image.new("RGB", (177, 300)))
    assert read_picture(too_small, FACES) is None


def test_other_sizes_only_where_the_schema_lets_them():
    content = saved(Image.new("L", (12, 8), 7))
    assert read_picture(content, SMALL) is None
    assert set(read_picture(content, ImageSchema(height=4, width=6, resize=True))) == {7}


EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 6 4\n%%EndComments\nshowpage\n"


@pytest.mark.parametrize(
    "content",
    [b"", b"\x89PNG\r\n\x1a\n", saved(Image.new("L", (6, 4)))[:40], b"GIF89a", EPS, b"P2 6 4 255"],
)
def test_what_is_no_picture(content):
    assert read_picture(content, SMALL) is None


def test_formats_that_programs_decode_are_not_opened():
    # Pillow would open this and hand it to Ghostscript.
    assert Image.open(io.BytesIO(EPS)).format == "EPS"
    assert picture_size(EPS) is None


def test_no_warning_tells_about_a_picture(monkeypatch):
    content = saved(Image.new("L", (6, 4)))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 20)  # Pillow then warns of 24 pixels
    with pytest.warns(Image.DecompressionBombWarning, match="24 pixels"):
        Image.open(io.BytesIO(content))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_picture(content, SMALL) is not None
        assert picture_size(content) is not None


def test_sheets():
    pixels = np.arange(6, dtype=np.uint8).reshape(6, 1, 1, 1) + np.zeros((1, 2, 3, 1), np.uint8)
    found = sheet([pixels[:3], pixels[3:4]])
    assert found.shape == (6, 13, 1)
    assert found[0, 0] == 0 and found[1, 10] == 2 and found[4, 0] == 3
    assert (found[2:4] == 255).all() and (found[4:, 3:] == 255).all()
    by_class = contact_sheet(pixels, np.array([1, 0, 1, 0, 1, 0]), across=2)
    assert by_class.shape == (6, 8, 1) and by_class[0, 5] == 3 and by_class[4, 5] == 2
    assert contact_sheet(pixels, None, across=4).shape == (6, 18, 1)
    assert enlarged(found, 3).shape == (18, 39, 1)
    assert read_picture(picture_bytes(pixels[4]), ImageSchema(height=2, width=3)) == b"\4" * 6
