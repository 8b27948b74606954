"""Quantities with units: accepted text, refused text, and the round trip of writing and reading."""

import pickle
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lightburst.foundation.errors import InputError, InputErrors, combine, show
from lightburst.foundation.units import (
    DELAY_PER_LENGTH,
    ENERGY_PER_BIT,
    FREQUENCY,
    LENGTH,
    RATE,
    SIZE,
    TIME,
    BareFloat,
    BareInt,
    Dimension,
    Quantity,
    format_about,
    format_duration,
    format_frequency,
    format_length,
    format_rate,
    format_size,
    parse_duration,
    parse_frequency,
    parse_length,
    parse_rate,
    parse_size,
)

DIMENSIONS = [TIME, SIZE, RATE, LENGTH, FREQUENCY, DELAY_PER_LENGTH, ENERGY_PER_BIT]


@pytest.mark.parametrize(
    ("text", "picoseconds"),
    [
        ("0 s", 0),
        ("1 ps", 1),
        ("1ps", 1),
        ("5 ns", 5_000),
        ("7.2 us", 7_200_000),
        ("7.2 µs", 7_200_000),
        ("1 ms", 10**9),
        ("0.1 ms", 10**8),  # 0.1 * 1e9 in floats is 100000000.00000001 for some spellings
        ("60 s", 60 * 10**12),
        ("1.5e-3 s", 1_500_000_000),
        ("+2 min", 120 * 10**12),
        ("0.5 h", 1800 * 10**12),
        (".5 ns", 500),
    ],
)
def test_durations(text: str, picoseconds: int) -> None:
    assert parse_duration(text) == picoseconds


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("64 B", 64),
        ("9 kB", 9_000),
        ("1.5 kB", 1_500),
        ("16 MiB", 16 * 1024 * 1024),
        ("16 MB", 16_000_000),
        ("1 TiB", 1024**4),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "rate"),
    [("10 Gb/s", 10**10), ("2.5 Gb/s", 2_500_000_000), ("1 b/s", 1), ("0.4 Tb/s", 4 * 10**11)],
)
def test_rates(text: str, rate: int) -> None:
    assert parse_rate(text) == rate


def test_other_dimensions() -> None:
    assert parse_length("10 m") == 10.0
    assert parse_length("0.3 km") == 300.0
    assert parse_frequency("1e7 /s") == 1e7
    assert parse_frequency("10 /us") == 1e7
    assert Quantity(DELAY_PER_LENGTH).parse("5 ns/m") == 5000.0
    assert Quantity(DELAY_PER_LENGTH).parse("5 us/km") == 5000.0
    assert Quantity(ENERGY_PER_BIT).parse("2.5 pJ/b") == 2.5e-12
    assert Quantity(ENERGY_PER_BIT).parse("1e-12 J/b") == 1e-12


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("10 gb/s", "10 Gb/s"),
        ("10 Gb", "10 Gb/s"),
        ("10 Gbps", "10 Gb/s"),
        ("10 Gbit/s", "10 Gb/s"),
        ("100 mb/s", "100 Mb/s"),
        ("10 GB/s", "10 Gb/s"),
    ],
)
def test_a_wrong_rate_is_refused_with_the_right_one(text: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_rate(text, "topology.link_rate")
    error = caught.value
    assert error.path == "topology.link_rate"
    assert error.given == f"'{text}'"
    assert "in one of b/s, kb/s, Mb/s, Gb/s, Tb/s" in error.allowed
    assert f"did you mean '{hint}'?" in error.allowed


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "10", "Gb/s", "10  Gb/s", " 10 Gb/s", "10 Gb/s ", "10\tGb/s", "10 Gb /s",
        "1,5 Gb/s", "1_000 b/s", "0x10 b/s", "nan Gb/s", "inf Gb/s", "1e Gb/s", "1e5", "٣ Gb/s",
        "-1 Gb/s", "0 Gb/s", "0.1 b/s", "1e99 b/s", "1e999999999 b/s", "1e-999999999 b/s",
    ],
)  # fmt: skip
def test_what_is_not_a_rate(text: str) -> None:
    with pytest.raises(InputError, match=r"^rate: given .*; allowed: a rate"):
        parse_rate(text)


def test_sizes_and_durations_are_whole() -> None:
    with pytest.raises(InputError, match="a whole number of B"):
        parse_size("1.0005 kB")
    with pytest.raises(InputError, match="a whole number of ps"):
        parse_duration("0.5 ps")


@pytest.mark.parametrize(
    "given", ["10", BareInt(10), BareFloat(1.5), None, True, ["10 m"], {"m": 10}, 1j]
)
def test_what_has_no_unit_is_refused(given: object) -> None:
    with pytest.raises(ValueError, match="a length"):
        Quantity(LENGTH).parse(given)


def test_a_word_in_place_of_a_quantity() -> None:
    unlimited = Quantity(SIZE, positive=True, word="unlimited")
    assert unlimited.parse("unlimited") is None
    assert unlimited.format(None) == "unlimited"
    assert unlimited.allowed.endswith("or 'unlimited'")
    with pytest.raises(ValueError, match="unlimited"):
        unlimited.parse("Unlimited")


def test_limits() -> None:
    small = Quantity(TIME, largest="1 s")
    assert small.parse("1 s") == 10**12
    with pytest.raises(ValueError, match="up to 1 s"):
        small.parse("1.000000000001 s")


def test_what_is_written_is_what_people_write() -> None:
    assert format_duration(10**9) == "1 ms"
    assert format_duration(60 * 10**12) == "60 s"
    assert format_duration(7_200_000) == "7.2 us"
    assert format_duration(0) == "0 s"
    durations = [0, 1, 12_345, 99_999, 39_412_345_071, 4 * 10**18]
    assert [format_about(duration) for duration in durations] == [
        "0 s", "1 ps", "12.34 ns", "100 ns", "39.41 ms", "4e6 s",
    ]  # fmt: skip
    assert format_size(9_000) == "9 kB"
    assert format_size(2**24) == "16 MiB"
    assert format_size(900_000) == "900 kB"
    assert format_size(64) == "64 B"
    assert format_rate(10**10) == "10 Gb/s"
    assert format_rate(155_520_000) == "155.52 Mb/s"
    assert format_length(10.0) == "10 m"
    assert format_length(12_000.0) == "12 km"
    assert format_frequency(1e7) == "1e7 /s"
    assert format_frequency(31622776.6) == "31622776.6 /s"


@pytest.mark.parametrize("dimension", [d for d in DIMENSIONS if d.whole], ids=lambda d: d.name)
@given(number=st.integers(1, 10**15))
@example(number=1)
@example(number=2**40 + 1)
def test_whole_quantities_survive_writing_and_reading(dimension: Dimension, number: int) -> None:
    quantity = Quantity(dimension)
    assert quantity.parse(quantity.format(number)) == number


@pytest.mark.parametrize("dimension", [d for d in DIMENSIONS if not d.whole], ids=lambda d: d.name)
@given(number=st.floats(1e-30, 0.99))
@example(number=0.1 + 0.2)
def test_other_quantities_survive_writing_and_reading(dimension: Dimension, number: float) -> None:
    quantity = Quantity(dimension)
    assert quantity.parse(quantity.format(number)) == number


@pytest.mark.parametrize("dimension", DIMENSIONS, ids=lambda d: d.name)
def test_the_example_can_be_read_in_every_unit(dimension: Dimension) -> None:
    quantity = Quantity(dimension)
    assert quantity.parse(dimension.example) is not None
    for unit, factor in dimension.units.items():
        assert quantity.parse(f"1 {unit}") == float(factor)
    for unit in dimension.written:
        assert unit in dimension.units


def test_the_pattern_of_the_schema_allows_what_is_read() -> None:
    schema = Quantity(RATE).__get_pydantic_json_schema__({"type": "any"}, None)  # type: ignore[arg-type]
    for text in ("10 Gb/s", "10Gb/s", "1e9 b/s", "+.5 Tb/s"):
        assert re.search(schema["pattern"], text), text
    for text in ("10 gb/s", "-1 Gb/s", "10  Gb/s", "10 Gb/sx", "Gb/s"):
        assert not re.search(schema["pattern"], text), text


def test_one_error_in_words() -> None:
    error = InputError("topology.k", show(5), "an even whole number from 2 to 128")
    assert str(error) == "topology.k: given 5; allowed: an even whole number from 2 to 128"
    assert show("10 Gb ") == "'10 Gb '"
    assert len(show("x" * 1000)) <= 80


def test_several_errors_in_one() -> None:
    first, second = InputError("a", "1", "2"), InputError("b", "3", "4")
    both = combine([first, second])
    assert isinstance(both, InputErrors)
    assert both.errors == (first, second)
    assert (both.path, both.given, both.allowed) == ("a", "1", "2")
    assert str(both).splitlines() == ["a: given 1; allowed: 2", "b: given 3; allowed: 4"]
    assert combine([first]) is first
    assert combine([both, first]).errors == (first, second, first)


def test_errors_travel_between_processes() -> None:
    both = combine([InputError("a", "1", "2"), InputError("b", "3", "4")])
    for error in (both, both.errors[0]):
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error)
        assert str(copy) == str(error)
