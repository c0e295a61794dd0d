//! Tests from a URL to its page.

use super::{
    guard::tests::{http_response, serve},
    *,
};

#[tokio::test]
async fn fetches_the_page_after_redirects() {
    let port = serve(|request| match request.split(' ').nth(1) {
        Some("/moved") => http_response("301 Moved Permanently", "location: /caf%C3%A9?a#b\r\n", b""),
        Some("/caf%C3%A9?a") => http_response(
            "200 OK",
            "content-type: text/html; charset=latin1\r\n",
            b"<title>Caf\xe9</title><main><h1>Caf\xe9</h1><p>Open. See the <a href=menu>menu</a>.",
        ),
        Some("/menu.pdf") => http_response("200 OK", "content-type: application/pdf\r\n", b"%PDF-"),
        _ => http_response("404 Not Found", "", b""),
    })
    .await;
    let config = WebConfig {
        allowed_hosts: vec![format!("127.0.0.1:{port}")],
        ..WebConfig::default()
    };
    let client = WebClient::new(config).unwrap();
    let here = format!("http://127.0.0.1:{port}");

    assert_eq!(
        fetch_page(&client, &format!("{here}/moved")).await,
        Ok(ReadablePage {
            url: format!("{here}/caf%C3%A9?a"),
            title: Some("Café".into()),
            text: format!("# Café\n\nOpen. See the [menu]({here}/menu)."),
            ..ReadablePage::default()
        })
    );
    for (url, error) in [
        (
            format!("{here}/menu.pdf"),
            "The address gives application/pdf, which can't be read as text. Look for a version of it as a web page.",
        ),
        (
            format!("{here}/menu"),
            "The page answered 404. It is not there. Check the address, or search for the page.",
        ),
        (
            "http://169.254.169.254/latest/meta-data/".into(),
            "169.254.169.254 is an address inside this network, which is not allowed. Try a public address, or ask the \
             person for the text.",
        ),
    ] {
        assert_eq!(fetch_page(&client, &url).await.unwrap_err().to_string(), error);
    }
}
