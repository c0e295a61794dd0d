"""Validates the documents of packages: bills of materials (CycloneDX) and the manifests of Kubernetes by their schemas, the file of Compose
by its volumes. `scripts/packages-test` calls it.

    packaging/check_documents.py PACKAGES        with cyclonedx-python-lib, kubernetes-validate and PyYAML of PyPI"""

import json
import sys
from pathlib import Path

import kubernetes_validate
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator


def main():
    packages = Path(sys.argv[1])
    for path in sorted(packages.glob("*.cdx.json")):
        print(f"{path}: valid, {check_bill(path)} components")
    for path in sorted(packages.glob("kubernetes*.yaml")):
        manifests = list(yaml.safe_load_all(path.read_text()))
        for manifest in manifests:
            kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)
        print(f"{path}: {len(manifests)} valid manifests")
    for path in sorted(packages.glob("compose*.yaml")):
        compose = yaml.safe_load(path.read_text())
        services = compose["services"].values()
        mounted = [volume for service in services for volume in service.get("volumes", [])]
        named = {volume.split(":")[0] for volume in mounted}
        configs = {config["source"] for service in services for config in service.get("configs", [])}
        for used, declared in [(named, compose["volumes"]), (configs, compose.get("configs", {}))]:
            if used != set(declared):
                sys.exit(f"{path}: {used ^ set(declared)} are not declared, or not used")
        print(f"{path}: {len(services)} services")


def check_bill(path):
    """Returns the number of components. Each has to be in the tree of dependencies, and each dependency a component."""
    text = path.read_text()
    if fault := JsonStrictValidator(SchemaVersion.V1_5).validate_str(text):
        sys.exit(f"{path}: {fault}")
    bill = json.loads(text)
    components = [component["bom-ref"] for component in bill["components"]]
    known = {*components, bill["metadata"]["component"]["bom-ref"]}
    named = {name for entry in bill["dependencies"] for name in [entry["ref"], *entry["dependsOn"]]}
    if len(known) != len(components) + 1 or named != known:
        sys.exit(f"{path}: components {known ^ named} are doubled, or in no dependency")
    return len(components)


if __name__ == "__main__":
    main()
