"""The software bills of materials (CycloneDX 1.5): what is in the program, with licences and checksums, and what is in the image with
Python besides."""

import hashlib
import json
import re
import subprocess
import tomllib
import uuid
from datetime import datetime, timezone
from pathlib import Path


# The fonts of the page.
FONTS = [("Inter", "public/fonts/inter-latin.woff2"), ("STIX Two Math", "public/fonts/stix-two-math.woff2")]

# The version of the C library that Zig links into static programs (`lib/libc/musl` of ziglang 0.17).
MUSL = "1.2.5"


def bill(target, version, time):
    """Returns the bill for a target: what cargo compiles, and what is linked or embedded besides. Reads Cargo.lock and cargo's own
    metadata; nothing is downloaded."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    metadata = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    (root,) = [package["id"] for package in packages.values() if package["name"] == "parlor"]
    used, waiting = set(), [root]
    while waiting:
        current = waiting.pop()
        if current not in used:
            used.add(current)
            waiting += normal_dependencies(nodes[current])
    sums = checksums()
    components = [component(packages[id], sums) for id in used if id != root]
    others = embedded()
    made = datetime.fromtimestamp(time, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": "urn:uuid:" + str(uuid.uuid5(uuid.NAMESPACE_URL, f"parlor/{version}/{target}/{time}")),
        "version": 1,
        "metadata": {
            "timestamp": made,
            "component": {"type": "application", "name": "parlor", "version": version, "bom-ref": "parlor"},
        },
        "components": sorted([*components, *others], key=lambda component: component["bom-ref"]),
        "dependencies": [
            {
                "ref": reference(packages[id]),
                "dependsOn": sorted(
                    [reference(packages[other]) for other in normal_dependencies(nodes[id])]
                    + [other["bom-ref"] for other in others if id == root]
                ),
            }
            for id in sorted(used, key=lambda id: reference(packages[id]))
        ]
        + [{"ref": other["bom-ref"], "dependsOn": []} for other in others],
    }
    return json.dumps(document, indent=1).encode()


def embedded():
    """Returns the parts of the program that cargo does not know: the C library, the scripts and the fonts of the page."""
    mermaid = re.search(r'"(@mermaid-js/tiny)@([0-9.]+)"', Path("xtask/src/npm.rs").read_text())
    name, version = mermaid.groups()
    parts = [
        plain("musl", MUSL, f"pkg:generic/musl@{MUSL}", "MIT"),
        plain(name, version, f"pkg:npm/{name.replace('@', '%40')}@{version}", "MIT"),
    ]
    for name, path in FONTS:
        checksum = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        font = {"type": "file", "name": name, "bom-ref": path, "licenses": [{"expression": "OFL-1.1"}]}
        parts.append({**font, "hashes": [{"alg": "SHA-256", "content": checksum}]})
    return parts


def plain(name, version, purl, licence):
    return {"type": "library", "name": name, "version": version, "bom-ref": purl, "purl": purl, "licenses": [{"expression": licence}]}


def python_bill(root, version, time):
    """Returns the bill of the system with Python, by its own lists: packages of Debian, and of PyPI."""
    listed = subprocess.run(
        ["dpkg-query", f"--admindir={root}/var/lib/dpkg", "--show", "--showformat=${Package} ${Version} ${Architecture}\n"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    components = []
    for line in listed.stdout.splitlines():
        name, number, architecture = line.split()
        purl = f"pkg:deb/debian/{name}@{number}?arch={architecture}"
        components.append({"type": "library", "name": name, "version": number, "bom-ref": purl, "purl": purl})
    for metadata in sorted(Path(root, "opt/python").glob("lib/python3*/site-packages/*.dist-info/METADATA")):
        fields = dict(re.findall(r"^(Name|Version): (.*)$", metadata.read_text().split("\n\n")[0], re.MULTILINE))
        purl = f"pkg:pypi/{fields['Name'].lower().replace('_', '-')}@{fields['Version']}"
        components.append({"type": "library", "name": fields["Name"], "version": fields["Version"], "bom-ref": purl, "purl": purl})
    made = datetime.fromtimestamp(time, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    name = "parlor-python"
    references = [component["bom-ref"] for component in components]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": "urn:uuid:" + str(uuid.uuid5(uuid.NAMESPACE_URL, f"{name}/{version}/{time}")),
        "version": 1,
        "metadata": {"timestamp": made, "component": {"type": "container", "name": name, "version": version, "bom-ref": name}},
        "components": components,
        "dependencies": [
            {"ref": name, "dependsOn": references},
            *({"ref": reference, "dependsOn": []} for reference in references),
        ],
    }
    return json.dumps(document, indent=1).encode()


def normal_dependencies(node):
    """Those of the program itself, without those of build scripts and tests."""
    kinds = lambda dependency: {kind["kind"] for kind in dependency["dep_kinds"]}
    return [dependency["pkg"] for dependency in node["deps"] if None in kinds(dependency)]


def reference(package):
    return "parlor" if package["name"] == "parlor" else f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, sums):
    found = {
        "type": "library",
        "name": package["name"],
        "version": package["version"],
        "bom-ref": reference(package),
        "purl": reference(package),
    }
    if package["license"]:
        found["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if checksum := sums.get((package["name"], package["version"])):
        found["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return found


def checksums():
    locked = tomllib.loads(Path("Cargo.lock").read_text())["package"]
    return {(entry["name"], entry["version"]): entry["checksum"] for entry in locked if "checksum" in entry}
