"""Makes public/fonts/stix-two-math.woff2: STIX Two Math with only the characters that formulas can have, and with the tables by
which brackets, braces and roots grow. Run it again when the LaTeX parser or crates/markup/src/math knows more characters:

    python3 -m venv /tmp/font && /tmp/font/bin/pip install fonttools==4.68.0 brotli==1.2.1
    npm pack --pack-destination /tmp @fontsource/stix-two-math@5.3.0 && tar -xzf /tmp/fontsource-stix-two-math-5.3.0.tgz -C /tmp
    /tmp/font/bin/python scripts/math-font.py /tmp/package/files/stix-two-math-latin-400-normal.woff2

Its licence is public/fonts/stix-two-math-OFL.txt. `make test-rust ARGS="math"` compares the result with what formulas need.
"""

import copy
import json
import pathlib
import re
import subprocess
import sys

from fontTools import subset

TARGET = pathlib.Path("public/fonts/stix-two-math.woff2")
MAX_BYTES = 160_000

# ASCII, Latin letters with accents (in texts), Greek, operators, and the mathematical alphabets.
RANGES = [(0x20, 0x7F), (0xA0, 0x180), (0x391, 0x3F7), (0x2200, 0x2300), (0x1D400, 0x1D800)]
# Drawn by browsers themselves: the sign after a function's name and its relatives, the line of an accent, and roots.
DRAWN = {0x2061, 0x2062, 0x2063, 0x2064, 0x203E, 0x221A}
# Accents that grow over several letters, and the combining characters whose wider glyphs they take: the font has them for these
# only, which are no operators in formulas.
WIDE_ACCENTS = {0x5E: 0x302, 0x7E: 0x303, 0x2C7: 0x30C}


def parser_sources():
    """The sources of the LaTeX parser, whose symbols are literals."""
    command = ["scripts/with-toolchain", "cargo", "metadata", "--format-version", "1", "--locked"]
    packages = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["packages"]
    manifest = next(package["manifest_path"] for package in packages if package["name"] == "pulldown-latex")
    return (pathlib.Path(manifest).parent / "src").rglob("*.rs")


def characters():
    found = {code for start, end in RANGES for code in range(start, end)} | DRAWN | set(WIDE_ACCENTS.values())
    for file in [*parser_sources(), *pathlib.Path("crates/markup/src/math").glob("*.rs")]:
        text = file.read_text()
        found |= {ord(character) for character in text if ord(character) > 0x7F}
        found |= {int(code, 16) for code in re.findall(r"\\u\{([0-9a-fA-F]{1,6})\}", text)}
    return found


def widen_accents(font):
    """Gives accents the wider glyphs of their combining characters."""
    variants = font["MATH"].table.MathVariants
    coverage, names = variants.HorizGlyphCoverage, font.getBestCmap()
    constructions = dict(zip(coverage.glyphs, variants.HorizGlyphConstruction))
    for accent, combining in WIDE_ACCENTS.items():
        construction = copy.deepcopy(constructions[names[combining]])
        construction.MathGlyphVariantRecord[0].VariantGlyph = names[accent]
        constructions[names[accent]] = construction
    coverage.glyphs = sorted(constructions, key=font.getGlyphID)
    variants.HorizGlyphConstruction = [constructions[name] for name in coverage.glyphs]
    variants.HorizGlyphCount = len(coverage.glyphs)


def turn_connectors(font):
    """Corrects parts whose two ends are confused: the head of an arrow to the right connects at its point, says the font, and
    browsers then build no longer arrow."""
    for construction in font["MATH"].table.MathVariants.HorizGlyphConstruction:
        parts = construction.GlyphAssembly.PartRecords if construction.GlyphAssembly else []
        for before, last in list(zip(parts, parts[1:]))[-1:]:
            if before.EndConnectorLength and not last.StartConnectorLength:
                last.StartConnectorLength, last.EndConnectorLength = last.EndConnectorLength, 0


def main(source):
    options = subset.Options()
    options.flavor = "woff2"
    options.hinting = False
    options.layout_features = ["ssty", "dtls", "ccmp", "kern", "mark", "mkmk"]
    font = subset.load_font(source, options)
    widen_accents(font)
    turn_connectors(font)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=characters())
    subsetter.subset(font)
    TARGET.parent.mkdir(exist_ok=True)
    subset.save_font(font, TARGET, options)
    size = TARGET.stat().st_size
    print(f"{TARGET}: {size} bytes, {len(font.getGlyphOrder())} glyphs")
    if size > MAX_BYTES:
        sys.exit(f"more than {MAX_BYTES} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
