//! The CA certificates of HTTP clients.

use std::sync::LazyLock;

use parlor_base::ca_roots;
use reqwest::{Certificate, ClientBuilder};
use rustls::{RootCertStore, pki_types::CertificateDer};

/// The certificates of all clients: the system's, or the built-in ones where there are none.
static ROOTS: LazyLock<Vec<Certificate>> = LazyLock::new(|| {
    let system = valid(ca_roots::system());
    match system.is_empty() {
        true => valid(ca_roots::built_in()),
        false => system,
    }
});

/// Makes a client check servers with the certificates of the system, or with the built-in ones, if it has none.
pub fn with_roots(client: ClientBuilder) -> ClientBuilder {
    client.tls_certs_only(ROOTS.iter().cloned())
}

/// Returns the certificates that a client accepts: a single other one would fail all of it.
fn valid(certificates: impl Iterator<Item = &'static [u8]>) -> Vec<Certificate> {
    let (mut valid, mut invalid) = (Vec::new(), 0);
    for der in certificates {
        let is_valid = RootCertStore::empty().add(CertificateDer::from(der)).is_ok();
        match Certificate::from_der(der) {
            Ok(certificate) if is_valid => valid.push(certificate),
            _ => invalid += 1,
        }
    }
    if invalid > 0 {
        tracing::warn!("{invalid} CA certificates are damaged, and are not used");
    }
    valid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_make_a_client() {
        crate::http_client::install_tls();
        assert!(valid(ca_roots::built_in()).len() > 100);
        let damaged: &[u8] = b"no certificate";
        let some = valid([damaged].into_iter().chain(ca_roots::built_in().take(3)));
        assert_eq!(some.len(), 3);
        for roots in [some, valid(ca_roots::built_in())] {
            assert!(reqwest::Client::builder().tls_certs_only(roots).build().is_ok());
        }
        assert!(with_roots(reqwest::Client::builder()).build().is_ok());
    }
}
