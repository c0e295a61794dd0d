//! Tests over a small folder in `tests/fixtures/site`, laid out like a real build.

use super::*;
use axum::{body::to_bytes, http::Request};
use rust_embed::RustEmbed;
use tower::ServiceExt;

#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/tests/fixtures/site"]
struct Fixture;

#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/tests/fixtures/no-such-folder"]
#[allow_missing = true]
struct Missing;

/// Returns the status, the relevant headers and the body.
async fn request_asset(method: &str, url: &str, accept_encoding: &str) -> (u16, String, Vec<u8>) {
    let request = Request::builder()
        .method(method)
        .uri(url)
        .header(header::ACCEPT_ENCODING, accept_encoding);
    let response = router_for::<Fixture, ()>()
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
async fn hashed_files_are_immutable_and_compressed() {
    let js = "text/javascript; charset=utf-8 | public, max-age=31536000, immutable | accept-encoding";
    assert_eq!(
        request_asset("GET", "/pkg/parlor-1.js", "gzip, deflate, br").await,
        (200, format!("{js} | br"), b"compressed\n".to_vec())
    );
    for without in ["gzip", "br;q=0", "", "brotli"] {
        assert_eq!(
            request_asset("GET", "/pkg/parlor-1.js", without).await,
            (200, format!("{js} | -"), b"plain\n".to_vec()),
            "{without:?}"
        );
    }
}

#[tokio::test]
async fn sends_a_file_without_compressed_form_unchanged() {
    let (status, headers, body) = request_asset("GET", "/robots.txt", "br").await;
    assert_eq!((status, body), (200, b"User-agent: *\n".to_vec()));
    assert_eq!(
        headers,
        "text/plain; charset=utf-8 | public, max-age=3600 | accept-encoding | -"
    );
}

#[tokio::test]
async fn file_stored_compressed_only_is_decompressed() {
    let headers = "text/javascript; charset=utf-8 | public, max-age=31536000, immutable | accept-encoding";
    assert_eq!(
        request_asset("GET", "/pkg/mermaid-4.js", "gzip").await,
        (200, format!("{headers} | -"), b"diagrams\n".to_vec())
    );
    let compressed = request_asset("GET", "/pkg/mermaid-4.js", "br").await;
    assert_eq!((compressed.0, compressed.1), (200, format!("{headers} | br")));
    assert_ne!(compressed.2, b"diagrams\n");
}

#[tokio::test]
async fn head_returns_only_headers() {
    let (status, headers, body) = request_asset("HEAD", "/pkg/parlor-1.js", "br").await;
    assert_eq!((status, headers.ends_with("| br"), body), (200, true, vec![]));
}

#[tokio::test]
async fn serves_no_other_paths() {
    for url in [
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
        assert_eq!(request_asset("GET", url, "br").await.0, 404, "{url}");
    }
    assert_eq!(request_asset("POST", "/robots.txt", "br").await.0, 405);
}

#[test]
fn missing_manifest_falls_back_to_default_names() {
    let named = Manifest {
        js: "/pkg/parlor-1.js".into(),
        wasm: "/pkg/parlor-2.wasm".into(),
        css: "/pkg/parlor-3.css".into(),
        mermaid: None,
        text_font: None,
        math_font: None,
    };
    assert_eq!(Manifest::load::<Fixture>(), Some(named));
    assert_eq!(Manifest::load::<Missing>(), None);
    assert_eq!(Manifest::default().wasm, "/pkg/parlor.wasm");
}
