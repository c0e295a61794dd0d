//! A model server whose certificate nobody has issued.

use std::{io::Read, net::TcpListener, sync::Arc, thread};

use rustls::{
    ServerConfig, ServerConnection, Stream,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

use super::*;

/// Starts a server with such a certificate. Returns its address.
fn self_signed_server() -> String {
    let certificate = include_bytes!("../../fixtures/tls/chat.example.pem");
    let certificate = CertificateDer::from_pem_slice(certificate).unwrap();
    let key = include_bytes!("../../fixtures/tls/chat.example.key");
    let key = PrivateKeyDer::from_pem_slice(key).unwrap();
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            let mut connection = ServerConnection::new(config.clone()).unwrap();
            // The client hangs up in the handshake.
            let _ = Stream::new(&mut connection, &mut socket).read(&mut [0]);
        }
    });
    format!("https://{address}/v1")
}

#[tokio::test]
async fn an_untrusted_certificate_is_told_in_words() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    let parlor = start(folder.path(), &upstream, |_| {}).await;
    let address = self_signed_server();
    let test = json!({ "kind": "openai", "base_url": address });
    let (status, tested) = send(&parlor, "POST", "/api/endpoints/test", &test).await;
    let problem = &tested["problem"];
    assert_eq!(
        (status, &problem["code"]),
        (200, &json!("untrusted_certificate")),
        "{tested}"
    );
    assert_eq!(
        problem["message"],
        "The certificate of this address is not trusted: this machine does not know who issued it. If you trust the issuer, install its \
         certificate on Parlor's machine and start Parlor again."
    );

    // One that is added all the same costs only its own answers, which say why.
    let mut new = endpoint("sealed", &upstream);
    new["base_url"] = json!(address);
    new["models"] = json!(["a"]);
    add(&parlor, &new).await;
    let turn = json!({ "message": "Hello", "model": "sealed/a" });
    let events = parlor.chat(&turn).await.read_to_end().await;
    let ended = events.last().unwrap();
    assert_eq!(ended["type"], "error", "{ended}");
    assert!(ended.to_string().contains("certificate"), "{ended}");
}
