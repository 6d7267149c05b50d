"""Tests the demo's data: its format, its size, and the choice of digits held out for testing."""

import struct
from importlib.resources import files

import pytest

from lanewise.demo import digits as data


@pytest.fixture(scope="module")
def digits():
    return data.load()


def test_there_are_540_digits_of_64_four_bit_pixels(digits):
    assert len(digits.labels) == 540
    assert len(digits.pixels) == 540 * 64
    assert max(digits.pixels) == 15
    assert sorted(set(digits.positions)) == list(digits.positions)
    assert digits.positions[0] >= 0 and digits.positions[-1] < data.DATA_SET


def test_the_held_out_classes_are_balanced(digits):
    counts = [digits.labels.count(digit) for digit in range(10)]
    assert sum(counts) == 540
    assert min(counts) > 50 and max(counts) < 58  # each digit has 174 to 183 images; three in ten are for testing


def test_all_files_together_are_under_35_kilobytes():
    folder = files("lanewise.demo")
    sizes = [len(item.read_bytes()) for item in (folder / "data").iterdir()]
    assert sum(sizes) + len((folder / "NOTICE").read_bytes()) < 35_000


def test_the_notice_attributes_the_data():
    notice = (files("lanewise.demo") / "NOTICE").read_text()
    for words in (
        "Optical Recognition of Handwritten Digits",
        "E. Alpaydin",
        "C. Kaynak",
        "1998",
        "CC BY 4.0",
    ):
        assert words in notice


def test_brightness_runs_from_0_to_1(digits):
    brightness = digits.brightness()
    assert len(brightness) == 540 * 64
    assert min(brightness) == 0
    assert max(brightness) == 1


def test_an_image_is_64_pixels_in_the_order_of_the_digits(digits):
    for index in (0, 1, 539):
        assert digits.image(index) == digits.pixels[64 * index : 64 * index + 64]
        assert len(digits.image(index)) == 64


def test_unpacking_reverses_packing():
    pixels = bytes(range(16)) * 4
    assert data.pack_pixels(b"\x01\x0f") == b"\xf1"
    assert data.unpack_pixels(data.pack_pixels(pixels)) == pixels


def test_an_odd_number_of_pixels_is_not_packed():
    with pytest.raises(ValueError):
        data.pack_pixels(b"\x01\x0f\x02")


def test_saving_writes_the_files_that_were_loaded(digits, tmp_path):
    folder = tmp_path / "new" / "data"
    for _ in range(2):  # the first call creates the folder, the second replaces the files
        written = data.save(digits, folder)
    assert written == sum(item.stat().st_size for item in folder.iterdir())
    for item in (files("lanewise.demo") / "data").iterdir():
        assert (folder / item.name).read_bytes() == item.read_bytes()


def test_weights_of_a_wrong_length_are_refused():
    described = [{"name": "bias", "shape": [2]}]
    assert data.unpack_weights(described, struct.pack("<2e", 1, -2))["bias"].values.tolist() == [1, -2]
    with pytest.raises(ValueError, match="expected 4 bytes in weights"):
        data.unpack_weights(described, bytes(6))


def test_the_pixels_are_scikit_learns(digits):
    datasets = pytest.importorskip("sklearn.datasets", reason="compares with the source of the data")
    source = datasets.load_digits()
    mine = list(digits.positions)
    assert bytes(int(min(value, 15)) for value in source.images[mine].reshape(-1)) == digits.pixels
    assert tuple(source.target[mine].tolist()) == digits.labels
