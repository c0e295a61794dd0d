//! The size of a browser's first visit: the page and its assets, as they are sent.

use crate::{
    client::{Client, Error},
    figures::AssetSize,
};

/// The code of conversations and of Markdown. A new chat does not wait for it, but each page loads it at the end.
const LAZY_FILES: [&str; 3] = [
    "__wasm_split.js",
    "conversation_chunks.bin",
    "split_conversation.wasm",
];

/// The kind of assets that are loaded after the page.
pub const LAZY_KIND: &str = "later";

/// Loads the page and all assets of the server that it refers to.
pub async fn measure(client: &Client) -> Result<Vec<AssetSize>, Error> {
    let page = String::from_utf8(client.get("/").await?.bytes().await?)?;
    let mut sent = vec![measure_asset(client, "/").await?];
    for path in asset_urls(&page) {
        sent.push(measure_asset(client, &path).await?);
        if let Some((folder, name)) = path.rsplit_once('/')
            && name.ends_with(".wasm")
        {
            for file in LAZY_FILES {
                let asset = measure_asset(client, &[folder, "/", file].concat()).await?;
                sent.push(AssetSize {
                    kind: LAZY_KIND.into(),
                    ..asset
                });
            }
        }
    }
    Ok(sent)
}

async fn measure_asset(client: &Client, path: &str) -> Result<AssetSize, Error> {
    let response = client.get_compressed(path).await?;
    let encoding = response.encoding.clone().unwrap_or_else(|| "none".into());
    let bytes = response.bytes().await?.len();
    let name = path.rsplit('/').next().unwrap_or_default();
    let kind = name
        .rsplit_once('.')
        .map_or("html", |(_, extension)| extension)
        .to_owned();
    Ok(AssetSize {
        path: path.to_owned(),
        kind,
        encoding,
        bytes,
    })
}

/// Returns the asset URLs in a page: in attributes or in its scripts, always in quotes.
fn asset_urls(page: &str) -> Vec<String> {
    let mut paths: Vec<String> = page
        .split(['"', '\''])
        .filter(|text| text.starts_with('/') && !text.starts_with("//"))
        .filter(|text| {
            let name = text.rsplit('/').next().unwrap_or_default();
            ["css", "js", "wasm", "svg", "woff2", "png", "ico"]
                .iter()
                .any(|kind| name.ends_with(&format!(".{kind}")))
                && text
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "/-_.".contains(c))
        })
        .map(str::to_owned)
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_each_asset_once() {
        let page = r#"<link href="/pkg/parlor-1.css"><link href="/pkg/parlor-1.js"><a href="/c/1">x</a>
            <script>import init from "/pkg/parlor-1.js"; init({ module_or_path: "/pkg/parlor-1.wasm" })</script>
            <link rel="icon" href="/favicon.svg"><script src="//elsewhere/x.js"></script>"#;
        assert_eq!(
            asset_urls(page),
            [
                "/favicon.svg",
                "/pkg/parlor-1.css",
                "/pkg/parlor-1.js",
                "/pkg/parlor-1.wasm"
            ]
        );
    }
}
