"""The software bill of materials (CycloneDX 1.5): what cargo compiles into the program, with licences and checksums."""

import json
import subprocess
import tomllib
import uuid
from datetime import datetime, timezone
from pathlib import Path


def bill(target, version, time):
    """Returns the bill for a target. Reads Cargo.lock and cargo's own metadata; nothing is downloaded."""
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
        "components": sorted(components, key=lambda component: component["bom-ref"]),
        "dependencies": [
            {
                "ref": reference(packages[id]),
                "dependsOn": sorted(reference(packages[other]) for other in normal_dependencies(nodes[id])),
            }
            for id in sorted(used, key=lambda id: reference(packages[id]))
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
