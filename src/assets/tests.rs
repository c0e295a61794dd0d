//! Over a small folder in `tests/fixtures/site`, made as the build makes the real one.

use super::*;
use axum::{body::to_bytes, http::Request};
use tower::ServiceExt;

#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/tests/fixtures/site"]
struct Fixture;

#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/tests/fixtures/no-such-folder"]
#[allow_missing = true]
struct Missing;

/// Status, the headers that matter, body.
async fn ask(method: &str, address: &str, accept_encoding: &str) -> (u16, String, Vec<u8>) {
    let request = Request::builder()
        .method(method)
        .uri(address)
        .header(header::ACCEPT_ENCODING, accept_encoding);
    let response = router_of::<Fixture, ()>()
        .oneshot(request.body(Body::empty()).unwrap())
        .await
        .unwrap();
    let names = [
        header::CONTENT_TYPE,
        header::CACHE_CONTROL,
        header::VARY,
        header::CONTENT_ENCODING,
    ];
    let headers = names.map(|name| {
        response
            .headers()
            .get(name)
            .map_or("-".into(), |value| value.to_str().unwrap().to_owned())
    });
    let status = response.status().as_u16();
    (
        status,
        headers.join(" | "),
        to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec(),
    )
}

#[tokio::test]
async fn hashed_files_are_kept_for_ever_and_sent_as_the_browser_likes_them() {
    let js = "text/javascript; charset=utf-8 | public, max-age=31536000, immutable | accept-encoding";
    assert_eq!(
        ask("GET", "/pkg/parlor-1.js", "gzip, deflate, br").await,
        (200, format!("{js} | br"), b"compressed\n".to_vec())
    );
    for without in ["gzip", "br;q=0", "", "brotli"] {
        assert_eq!(
            ask("GET", "/pkg/parlor-1.js", without).await,
            (200, format!("{js} | -"), b"plain\n".to_vec()),
            "{without:?}"
        );
    }
}

#[tokio::test]
async fn a_file_that_has_no_compressed_form_is_sent_as_it_is() {
    let (status, headers, body) = ask("GET", "/robots.txt", "br").await;
    assert_eq!((status, body), (200, b"User-agent: *\n".to_vec()));
    assert_eq!(
        headers,
        "text/plain; charset=utf-8 | public, max-age=3600 | accept-encoding | -"
    );
}

#[tokio::test]
async fn head_gives_the_headers_alone() {
    let (status, headers, body) = ask("HEAD", "/pkg/parlor-1.js", "br").await;
    assert_eq!((status, headers.ends_with("| br"), body), (200, true, vec![]));
}

#[tokio::test]
async fn nothing_else_can_be_reached() {
    for address in [
        "/pkg/parlor-2.js",
        "/pkg/../manifest.json",
        "/pkg/..%2Fmanifest.json.br",
        "/pkg/..%2F..%2F..%2F..%2FCargo.toml",
        "/pkg/%2Fetc%2Fpasswd",
        "/pkg/%00",
        "/pkg/",
        "/manifest.json",
        "/../Cargo.toml",
    ] {
        assert_eq!(ask("GET", address, "br").await.0, 404, "{address}");
    }
    assert_eq!(ask("POST", "/robots.txt", "br").await.0, 405);
}

#[test]
fn the_manifest_names_the_files_and_without_one_the_usual_names_hold() {
    let named = Manifest {
        js: "/pkg/parlor-1.js".into(),
        wasm: "/pkg/parlor-2.wasm".into(),
        css: "/pkg/parlor-3.css".into(),
    };
    assert_eq!(Manifest::of::<Fixture>(), Some(named));
    assert_eq!(Manifest::of::<Missing>(), None);
    assert_eq!(Manifest::default().wasm, "/pkg/parlor.wasm");
}
