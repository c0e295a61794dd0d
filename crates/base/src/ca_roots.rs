//! The CA certificates that servers are checked with: the system's, or where there are none, as in a container with nothing but
//! Parlor, those of Mozilla's list, as of this build.

use std::sync::LazyLock;

use base64::{Engine, prelude::BASE64_STANDARD};
use webpki_root_certs::TLS_SERVER_ROOT_CERTS;

/// The system's certificates, in DER, as of the first use. Reading them once for each HTTP client was a quarter of a start.
static SYSTEM: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let read = rustls_native_certs::load_native_certs();
    for error in &read.errors {
        tracing::warn!(%error, "the system's CA certificates can't all be read");
    }
    read.certs
        .iter()
        .map(|certificate| certificate.to_vec())
        .collect()
});

/// The characters of a line of PEM (RFC 7468).
const LINE: usize = 64;

/// The parameters of a URL of Postgres that name certificates.
const NAMES_OF_ROOTS: [&str; 3] = ["sslrootcert=", "ssl-root-cert=", "ssl-ca="];

/// Returns the system's certificates, in DER. Those that it gets later are not among them.
pub fn system() -> impl Iterator<Item = &'static [u8]> {
    SYSTEM.iter().map(AsRef::as_ref)
}

/// Returns the built-in certificates, in DER.
pub fn built_in() -> impl Iterator<Item = &'static [u8]> {
    TLS_SERVER_ROOT_CERTS.iter().map(AsRef::as_ref)
}

/// Returns the built-in certificates as PEM for a connection to Postgres, if the system has none, and neither the URL nor the environment
/// names others.
pub fn pem_for_postgres(url: &str) -> Option<Vec<u8>> {
    let names_others =
        NAMES_OF_ROOTS.iter().any(|name| url.contains(name)) || std::env::var_os("PGSSLROOTCERT").is_some();
    (!names_others && system().next().is_none()).then(|| pem(built_in()))
}

fn pem<'a>(certificates: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut text = Vec::new();
    for certificate in certificates {
        text.extend_from_slice(b"-----BEGIN CERTIFICATE-----\n");
        for line in BASE64_STANDARD.encode(certificate).as_bytes().chunks(LINE) {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
        text.extend_from_slice(b"-----END CERTIFICATE-----\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pem_has_the_certificates() {
        let read = reqwest::Certificate::from_pem_bundle(&pem(built_in())).unwrap();
        assert_eq!(read.len(), built_in().count());
        assert!(read.len() > 100);
        let text = String::from_utf8(pem([&[0_u8; 60][..]].into_iter())).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines.len(), lines[1].len(), lines[2].len()), (4, LINE, 16));
    }
}
