"""Which server an address means: one reading, and none for anything that could have two."""

import pytest

from codemode_jupyter.connectors.http.origins import parse_address, parse_origin
from codemode_jupyter.errors import CodemodeError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://api.example.com", "https://api.example.com/"),
        ("HTTPS://API.Example.COM:443/A?b=C", "https://api.example.com/A?b=C"),
        ("http://localhost:8080?x", "http://localhost:8080/?x"),
        ("http://localhost:80/#part", "http://localhost/"),
        ("https://example.com:80/", "https://example.com:80/"),
        ("http://[::1]:9000/a", "http://[::1]:9000/a"),
        ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
        ("http://127.0.0.1/", "http://127.0.0.1/"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
        ("https://example.com/a@b:c//d\\e?f=http://g@h", "https://example.com/a@b:c//d\\e?f=http://g@h"),
        ("https://example.com./", "https://example.com./"),
    ],
)
def test_an_address_is_brought_to_its_plain_form(text, expected):
    assert str(parse_address(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ftp://example.com/",
        "file:///etc/passwd",
        "data:text/plain,x",
        "//example.com/",
        "https:example.com",
        "https:/example.com",
        "https:\\\\example.com",
        "https:///example.com",
        "https://",
        "https://user@example.com/",
        "https://user:secret@example.com/",
        "https://example.com@evil.test/",
        "https://example.com\\@evil.test/",
        "https://example.com%2eevil.test/",
        "https://example%2ecom/",
        "https://ex ample.com/",
        "https://example.com /",
        " https://example.com/",
        "https://example.com/a b",
        "https://example.com/\n",
        "https://exa\tmple.com/",
        "https://exämple.com/",
        "https://example。com/",
        "https://example..com/",
        "https://.example.com/",
        "https://-example.com/",
        "https://example.com:/",
        "https://example.com:0/",
        "https://example.com:65536/",
        "https://example.com:8o/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://127.0.0.1./",
        "http://[::1/",
        "http://[::g]/",
        "http://[::1%25lo]/",
        "http://::1/",
    ],
)
def test_an_address_with_two_readings_or_none_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        parse_address(text)


def test_origins_are_equal_whatever_their_spelling():
    assert parse_origin("https://Example.com") == parse_origin("HTTPS://example.com:443/")
    assert parse_origin("http://[::1]") == parse_origin("http://[0::0001]:80")
    assert parse_origin("https://example.com") != parse_origin("http://example.com")
    assert parse_origin("https://example.com") != parse_origin("https://example.com:8443")
    assert parse_origin("https://example.com") != parse_origin("https://example.com.")


@pytest.mark.parametrize("text", ["example.com", "https://example.com/api", "https://*.example.com", "*", 7, None])
def test_what_is_no_origin_is_refused_with_an_example(text):
    with pytest.raises(CodemodeError, match="is not an origin") as caught:
        parse_origin(text)
    assert caught.value.code == "invalid_option"
    assert "https://api.example.com" in caught.value.hint
