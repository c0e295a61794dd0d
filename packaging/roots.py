"""The CA certificates of images: Mozilla's list, as the program has it built in. Not this machine's, which may have certificates of its
own network among them."""

import ast
import base64
import json
import re
import subprocess
import textwrap
from pathlib import Path

# The crate that has the list, as one literal of bytes (DER) for each certificate.
CRATE = "webpki-root-certs"

LITERAL = re.compile(r'b"(?:[^"\\]|\\.)*"', re.DOTALL)


def mozilla_list():
    """Returns the certificates as PEM, in the order of the crate."""
    text = source().read_text()
    found = [decode(literal) for literal in LITERAL.findall(text)]
    # Each is a sequence of ASN.1 with a length of two bytes, and nothing behind it.
    whole = [der for der in found if der[:2] == b"\x30\x82" and len(der) == 4 + int.from_bytes(der[2:4], "big")]
    assert len(found) == len(whole) > 100, (len(found), len(whole))
    return "".join(map(pem, whole)).encode()


def source():
    """Returns the file of the crate that this commit's Cargo.lock names."""
    # For one target, so that nothing is downloaded for others.
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", "x86_64-unknown-linux-musl"]
    packages = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["packages"]
    (manifest,) = [package["manifest_path"] for package in packages if package["name"] == CRATE]
    return Path(manifest).parent / "src/lib.rs"


def decode(literal):
    """Returns the bytes of a literal of Rust: Python's has the same escapes, but that a backslash at the end of a line skips blanks."""
    return ast.literal_eval(re.sub(r"\\\n\s*", "", literal))


def pem(der):
    lines = textwrap.wrap(base64.b64encode(der).decode(), 64)
    return "\n".join(["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----", ""])
