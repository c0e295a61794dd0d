//! The CA certificates of HTTP clients.

use parlor_base::ca_roots;
use reqwest::{Certificate, ClientBuilder};

/// Makes a client check servers with the built-in certificates, if the system has none.
pub fn with_roots(client: ClientBuilder) -> ClientBuilder {
    match ca_roots::system_has_roots() {
        true => client,
        false => client.tls_certs_only(built_in()),
    }
}

fn built_in() -> impl Iterator<Item = Certificate> {
    ca_roots::built_in().filter_map(|certificate| Certificate::from_der(certificate).ok())
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
