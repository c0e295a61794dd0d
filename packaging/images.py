"""Container images, written without a container engine: archives in the layout of the Open Container Initiative, which
`docker load`, `podman load` and `skopeo` read."""

import hashlib
import json
from datetime import datetime, timezone

from archives import Entry, folder, folder_entries, gz, tar

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}

# Nobody has this user on an ordinary system; the folders of data and of temporary files are its own.
USER = 65532

PORT = 7387


# Where scripts/python-root has made the environment of Python.
PYTHON_PATH = "PATH=/opt/python/bin:/usr/bin:/bin"


def python_layer(root, time):
    """A small Debian with a Python and its packages, below the layer of the program."""
    return tar(folder_entries(root), time)


def program_layer(binary, roots, time):
    """The program, the CA certificates, and the folder for a volume. Nothing else: no shell, no libraries."""
    entries = [
        Entry("parlor", binary, 0o755),
        Entry("etc/ssl/certs/ca-certificates.crt", roots),
        folder("data", 0o700, USER),
        folder("tmp", 0o1777),
    ]
    return tar(entries, time)


def image(name, version, processor, layers, time, environment=()):
    """Returns an archive with one image. `layers` are tar archives, the lowest first."""
    made = datetime.fromtimestamp(time, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    packed = [gz(layer) for layer in layers]
    config = {
        "created": made,
        "architecture": ARCHITECTURES[processor],
        "os": "linux",
        "config": {
            "User": f"{USER}:{USER}",
            "ExposedPorts": {f"{PORT}/tcp": {}},
            "Env": [
                "PARLOR_DATA=/data",
                f"PARLOR_ADDR=0.0.0.0:{PORT}",
                "PARLOR_AUTH=password",
                "HOME=/data",
                *environment,
            ],
            "Entrypoint": ["/parlor"],
            "WorkingDir": "/data",
            "Volumes": {"/data": {}},
            "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": "Parlor",
                "org.opencontainers.image.version": version,
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [digest(layer) for layer in layers]},
        "history": [{"created": made, "created_by": "packaging/images.py"} for _ in layers],
    }
    blobs = {}
    layer_descriptors = [add(blobs, "application/vnd.oci.image.layer.v1.tar+gzip", layer) for layer in packed]
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": add(blobs, "application/vnd.oci.image.config.v1+json", to_json(config)),
        "layers": layer_descriptors,
    }
    reference = f"{name}:{version}"
    index = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [
            {
                **add(blobs, "application/vnd.oci.image.manifest.v1+json", to_json(manifest)),
                "platform": {"architecture": ARCHITECTURES[processor], "os": "linux"},
                "annotations": {
                    "io.containerd.image.name": f"docker.io/library/{reference}",
                    "org.opencontainers.image.ref.name": version,
                },
            }
        ],
    }
    # `docker load` of versions before 25 reads only this.
    docker = [
        {
            "Config": blob_path(manifest["config"]),
            "RepoTags": [reference],
            "Layers": [blob_path(layer) for layer in layer_descriptors],
        }
    ]
    entries = [
        Entry("oci-layout", to_json({"imageLayoutVersion": "1.0.0"})),
        Entry("index.json", to_json(index)),
        Entry("manifest.json", to_json(docker)),
        *(Entry(path, content) for path, content in blobs.items()),
    ]
    return f"{name}-{version}-{ARCHITECTURES[processor]}.oci.tar", tar(entries, time)


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def blob_path(descriptor):
    return "blobs/" + descriptor["digest"].replace(":", "/")


def add(blobs, media_type, content):
    descriptor = {"mediaType": media_type, "digest": digest(content), "size": len(content)}
    blobs[blob_path(descriptor)] = content
    return descriptor


def to_json(value):
    return json.dumps(value, indent=1, sort_keys=True).encode()
