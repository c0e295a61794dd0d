//! Static files: the WASM with its JavaScript loader, the stylesheet and the icons.
//!
//! The build puts these files into one folder. A release embeds the folder into its binary, unless the setting
//! `server.site` names another one; a development build reads it from disk, so that a changed style needs no new server. Files in `pkg` have a content hash
//! in their name or in their folder's name, and browsers cache them for ever. A page finds its three files, and a frame Mermaid,
//! through the [`Manifest`]. [`dev_reload::script`] is an additional script for development only.

pub mod dev_reload;
mod site;

use std::borrow::Cow;

use axum::{
    Router,
    body::Body,
    extract::Path,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use brotli_decompressor::BrotliDecompress;
use serde::Deserialize;

pub use self::site::use_folder;
use self::site::{Site, SiteFiles};

/// The URLs of the three files that every page loads.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Manifest {
    pub js: String,
    pub wasm: String,
    pub css: String,
    /// Mermaid, for the frame that draws diagrams. A build without npm has none.
    #[serde(default)]
    pub mermaid: Option<String>,
    /// The font of all text. Without it, the fonts of the system are used.
    #[serde(default)]
    pub text_font: Option<String>,
    /// The style sheet with the font of formulas, which a page loads with its first formula.
    #[serde(default)]
    pub math_font: Option<String>,
}

impl Manifest {
    /// Returns the manifest of the last build. It is read for each page: that takes microseconds, and during
    /// development it changes while the server runs.
    pub fn current() -> Self {
        Self::load::<SiteFiles>().unwrap_or_default()
    }

    fn load<S: Site>() -> Option<Self> {
        serde_json::from_slice(&S::file("manifest.json")?).ok()
    }
}

/// The file names of a plain `cargo leptos build --split`.
impl Default for Manifest {
    fn default() -> Self {
        Self {
            js: "/pkg/parlor.js".into(),
            wasm: "/pkg/parlor.wasm".into(),
            css: "/pkg/parlor.css".into(),
            mermaid: None,
            text_font: None,
            math_font: None,
        }
    }
}

/// Returns the routes: `/pkg/…`, and each public file under its own name (`/favicon.svg`).
pub fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    router_for::<SiteFiles, S>().merge(dev_reload::router())
}

/// Returns the routes of a site. A release looks names up in a list. A development build reads a folder, so
/// names that lead outside it are rejected.
fn router_for<F: Site, S: Clone + Send + Sync + 'static>() -> Router<S> {
    // `cargo leptos` generates names without a hash, which a browser must not cache.
    let keep = if Manifest::load::<F>().is_some() {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let pkg = async move |Path(name): Path<String>, headers: HeaderMap| match name.contains("..") {
        true => StatusCode::NOT_FOUND.into_response(),
        false => respond::<F>(&format!("pkg/{name}"), &headers, keep),
    };
    let mut router = Router::new().route("/pkg/{*name}", get(pkg));
    for name in F::file_names().into_iter().filter(|name| is_public(name)) {
        let url = format!("/{name}");
        let file = async move |headers: HeaderMap| respond::<F>(&name, &headers, "public, max-age=3600");
        router = router.route(&url, get(file));
    }
    router
}

/// Returns true for the path of a file of the site. None of them has data of users.
pub fn is_asset(path: &str) -> bool {
    let name = path.strip_prefix('/').unwrap_or_default();
    name.starts_with("pkg/") || is_public(name) && SiteFiles::file(name).is_some()
}

/// Returns true for a file of `public/`, as opposed to the build's own. The router would treat a name with
/// braces as a pattern.
fn is_public(name: &str) -> bool {
    name != "manifest.json"
        && !name.starts_with("pkg/")
        && !name.ends_with(".br")
        && !name.contains(['{', '}'])
}

fn respond<F: Site>(name: &str, request: &HeaderMap, cache: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, content_type(name)),
        (header::CACHE_CONTROL, cache),
        (header::VARY, "accept-encoding"),
    ];
    if accepts_brotli(request)
        && let Some(compressed) = F::file(&format!("{name}.br"))
    {
        return (
            headers,
            [(header::CONTENT_ENCODING, "br")],
            Body::from(compressed),
        )
            .into_response();
    }
    match F::file(name).or_else(|| decompress::<F>(name)) {
        Some(content) => (headers, Body::from(content)).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Returns the content of a file that is stored compressed only. Browsers accept Brotli only over TLS and from this machine.
fn decompress<F: Site>(name: &str) -> Option<Cow<'static, [u8]>> {
    let compressed = F::file(&format!("{name}.br"))?;
    let mut content = Vec::new();
    BrotliDecompress(&mut &*compressed, &mut content).ok()?;
    Some(content.into())
}

/// Returns true if the browser accepts `br` and does not exclude it with `;q=0`.
fn accepts_brotli(request: &HeaderMap) -> bool {
    let lists = request
        .get_all(header::ACCEPT_ENCODING)
        .into_iter()
        .filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|entry| {
        let (name, parameters) = entry.split_once(';').unwrap_or((entry, ""));
        let weight = parameters
            .trim()
            .strip_prefix("q=")
            .and_then(|weight| weight.parse::<f32>().ok());
        name.trim().eq_ignore_ascii_case("br") && weight != Some(0.0)
    })
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "js" => "text/javascript; charset=utf-8",
        "wasm" => "application/wasm",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "webmanifest" => "application/manifest+json",
        "json" => "application/json",
        "txt" => "text/plain; charset=utf-8",
        "html" => "text/html; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests;
