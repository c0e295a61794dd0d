//! The CA certificates that servers are checked with: the system's, or where there are none, as in a container with nothing but
//! Parlor, those of Mozilla's list, as of this build.

use std::sync::LazyLock;

use reqwest::{Certificate, ClientBuilder};
use webpki_root_certs::TLS_SERVER_ROOT_CERTS;

/// True if the system has certificates. It is looked for once.
static SYSTEM_HAS_ROOTS: LazyLock<bool> =
    LazyLock::new(|| !rustls_native_certs::load_native_certs().certs.is_empty());

/// Makes a client check servers with the built-in certificates, if the system has none.
pub fn with_roots(client: ClientBuilder) -> ClientBuilder {
    match *SYSTEM_HAS_ROOTS {
        true => client,
        false => client.tls_certs_only(built_in()),
    }
}

fn built_in() -> impl Iterator<Item = Certificate> {
    TLS_SERVER_ROOT_CERTS
        .iter()
        .filter_map(|certificate| Certificate::from_der(certificate).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_certificates_make_a_client() {
        assert!(built_in().count() > 100);
        crate::http_client::install_tls();
        assert!(
            reqwest::Client::builder()
                .tls_certs_only(built_in())
                .build()
                .is_ok()
        );
    }
}
