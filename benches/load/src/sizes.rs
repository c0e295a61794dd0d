//! What a browser's first visit costs: the page and what it loads, as they are sent.

use crate::{
    client::{Client, Error},
    figures::Sent,
};

/// What reads Markdown: no page waits for it that has none, but each loads it when all else is there.
const READER: &str = "split_markdown.wasm";

/// The kind of what is loaded after the page is there.
pub const LATER: &str = "later";

/// Loads the page and everything of the server's own that it names.
pub async fn measure(client: &Client) -> Result<Vec<Sent>, Error> {
    let page = String::from_utf8(client.get("/").await?.bytes().await?)?;
    let mut sent = vec![fetch(client, "/").await?];
    for path in assets(&page) {
        sent.push(fetch(client, &path).await?);
        if let Some((folder, name)) = path.rsplit_once('/')
            && name.ends_with(".wasm")
        {
            let reader = fetch(client, &[folder, "/", READER].concat()).await?;
            sent.push(Sent {
                kind: LATER.into(),
                ..reader
            });
        }
    }
    Ok(sent)
}

async fn fetch(client: &Client, path: &str) -> Result<Sent, Error> {
    let answer = client.get_compressed(path).await?;
    let encoding = answer.encoding.clone().unwrap_or_else(|| "none".into());
    let bytes = answer.bytes().await?.len();
    let name = path.rsplit('/').next().unwrap_or_default();
    let kind = name
        .rsplit_once('.')
        .map_or("html", |(_, extension)| extension)
        .to_owned();
    Ok(Sent {
        path: path.to_owned(),
        kind,
        encoding,
        bytes,
    })
}

/// The addresses in a page that name a file: in attributes or in its scripts, always in quotes.
fn assets(page: &str) -> Vec<String> {
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
    fn the_files_of_a_page_are_found_once_each() {
        let page = r#"<link href="/pkg/parlor-1.css"><link href="/pkg/parlor-1.js"><a href="/c/1">x</a>
            <script>import init from "/pkg/parlor-1.js"; init({ module_or_path: "/pkg/parlor-1.wasm" })</script>
            <link rel="icon" href="/favicon.svg"><script src="//elsewhere/x.js"></script>"#;
        assert_eq!(
            assets(page),
            [
                "/favicon.svg",
                "/pkg/parlor-1.css",
                "/pkg/parlor-1.js",
                "/pkg/parlor-1.wasm"
            ]
        );
    }
}
