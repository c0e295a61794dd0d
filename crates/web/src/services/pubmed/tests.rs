use std::collections::HashMap;

use fuzzing::properties;
use parking_lot::Mutex;
use proptest::prelude::*;
use upstream::{Page, Upstream};

use super::*;

/// Articles in PubMed's form: with sections, emphasis, entities, and cited articles.
const ABSTRACTS_XML: &str = include_str!("../../../../../tests/fixtures/pubmed/abstracts.xml");

#[test]
fn parses_abstracts_by_pmid() {
    let expected = HashMap::from([
        (
            "11".to_owned(),
            "BACKGROUND: Water is wet (p < 0.05).\nRESULTS & MORE: It’s H2O.".to_owned(),
        ),
        ("12".to_owned(), String::new()),
        ("13".to_owned(), "A <book>.".to_owned()),
    ]);
    assert_eq!(abstracts::parse_abstracts(ABSTRACTS_XML).unwrap(), expected);
}

#[derive(Debug, Default)]
struct Heard(Mutex<Vec<(String, String)>>);

impl PubmedListener for Heard {
    fn article_read(&self, _: &PubmedArticle) {}

    fn abstract_read(&self, pmid: &str, text: &str) {
        self.0.lock().push((pmid.into(), text.into()));
    }
}

#[tokio::test]
async fn failed_fetch_says_nothing_of_abstracts() {
    let article = |pmid: &str| format!("<PubmedArticle><PMID>{pmid}</PMID></PubmedArticle>");
    let failed =
        "<?xml version=\"1.0\"?><eFetchResult><ERROR>Search Backend failed: x</ERROR></eFetchResult>";
    let invalid = "<eFetchResult><ERROR>Invalid uid xx at position=0</ERROR></eFetchResult>";
    let maintenance = "<html><head><title>NCBI</title></head><body><p>Maintenance.</p></body></html>";
    for (pages, is_ok, heard) in [
        (vec![failed, failed, failed], false, vec![]),
        (vec![failed, &article("11")], true, vec!["11"]),
        (vec![invalid], false, vec![]),
        (vec![maintenance], true, vec![]),
        (vec!["<PubmedArticleSet/>"], true, vec![]),
        (vec![&article("12")], true, vec!["12"]),
    ] {
        let upstream = Upstream::start().await;
        for page in pages.iter().rev() {
            upstream.add_page_times(1, "/eutils/efetch.fcgi", Page::text(*page));
        }
        let settings = PubmedSettings {
            base_url: upstream.url_of("/eutils"),
            ..PubmedSettings::default()
        };
        let client = PubmedClient::new(&settings).unwrap();
        let client = client.with_test_timeout(Duration::from_secs(20));
        let listener = Arc::new(Heard::default());
        client.set_listener(listener.clone());
        let read = client.abstracts(&["11", "12"]).await;
        assert_eq!(read.is_ok(), is_ok, "{pages:?} {read:?}");
        assert!(read.unwrap_or_default().is_empty(), "{pages:?}");
        let known: Vec<String> = listener.0.lock().iter().map(|(id, _)| id.clone()).collect();
        assert_eq!(known, heard, "{pages:?}");
        assert_eq!(upstream.requests().len(), pages.len(), "{pages:?}");
    }
}

#[test]
fn ignores_custom_entities() {
    let laughs = r#"<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>
        <PubmedArticle><PMID>1</PMID><Abstract><AbstractText>So: &b;&f;&nbsp;.</AbstractText></Abstract></PubmedArticle>"#;
    assert_eq!(abstracts::parse_abstracts(laughs).unwrap()["1"], "So: .");
}

properties! {
    256;

    #[test]
    fn never_panics_on_any_xml(
        tokens in prop::collection::vec(
            prop::sample::select(vec![
                "<PubmedArticle>", "</PubmedArticle>", "<PMID>", "</PMID>", "1", "<Abstract>", "</Abstract>", "<AbstractText>",
                "<AbstractText Label='&#0;'>", "</AbstractText>", "&amp;", "&#xD800;", "&", "<", "]]>", "<![CDATA[", "<!--", "ä", "<?",
            ]),
            0..30,
        )
    ) {
        let _ = abstracts::parse_abstracts(&tokens.concat());
    }
}
