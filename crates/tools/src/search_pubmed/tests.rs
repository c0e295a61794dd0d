use std::time::Duration;

use serde_json::{Value, json};
use upstream::{Page, Upstream};

use super::*;
use crate::test_call;
use parlor_base::settings::{self, Secret};
use parlor_protocol::UserId;

/// Articles in PubMed's form.
const ABSTRACTS_XML: &str = include_str!("../../../../tests/fixtures/pubmed/abstracts.xml");

/// A fake NCBI with these articles, and a tool that queries it.
async fn pubmed(ids: &[&str], abstracts: Page) -> (Upstream, SearchPubmed) {
    let upstream = Upstream::start().await;
    let found = json!({ "header": {}, "esearchresult": { "count": "1234", "retmax": "2", "idlist": ids } });
    let mut result = json!({ "uids": ids });
    for id in ids {
        result[id] = json!({
            "uid": id,
            "title": format!("Study <i>{id}</i> of H&lt;sub&gt;2&lt;/sub&gt;O."),
            "authors": [{ "name": "Doe J", "authtype": "Author" }, { "name": "Roe R", "authtype": "Author" }],
            "source": "J Water",
            "fulljournalname": "Journal of Water",
            "pubdate": "2024 Jan 15",
            "articleids": [{ "idtype": "pubmed", "value": id }, { "idtype": "doi", "value": "10.1/x" }],
        });
    }
    upstream.add_page("/eutils/esearch.fcgi", Page::json(&found));
    upstream.add_page("/eutils/esummary.fcgi", Page::json(&json!({ "result": result })));
    upstream.add_page("/eutils/efetch.fcgi", abstracts);
    let settings = settings::PubmedSettings {
        base_url: upstream.url_of("/eutils/"),
        email: Some("ann@example.org".into()),
        api_key: Some(Secret("the-key".into())),
        ..Default::default()
    };
    let eutils = PubmedClient::new(&settings)
        .expect("it can be used")
        .with_test_timeout(Duration::from_secs(20));
    let search = SearchPubmed::new(Arc::new(eutils));
    (upstream, search)
}

fn input(query: &str) -> Input {
    Input {
        query: query.into(),
        count: Some(2),
        sort: None,
    }
}

fn article(pmid: &str, abstract_text: Option<&str>) -> PubmedArticle {
    PubmedArticle {
        pmid: pmid.into(),
        title: format!("Study {pmid} of H2O."),
        authors: vec!["Doe J".into(), "Roe R".into()],
        journal: "J Water".into(),
        date: "2024 Jan 15".into(),
        doi: Some("10.1/x".into()),
        abstract_text: abstract_text.map(str::to_owned),
        ..PubmedArticle::default()
    }
}

#[tokio::test]
async fn returns_articles_with_abstracts() {
    let (upstream, search) = pubmed(&["11", "12"], Page::text(ABSTRACTS_XML)).await;
    let (call, heard) = test_call::call_by(UserId::LOCAL);
    let result = search.run(input(" water[mesh] "), call).await.unwrap();
    let abstract_text = "BACKGROUND: Water is wet (p < 0.05).\nRESULTS & MORE: It’s H2O.";
    assert_eq!(
        result.text,
        format!(
            "PubMed has 1234 articles for “water[mesh]”. These are 2:\n\n\
             1. Study 11 of H2O. Doe J, Roe R. J Water, 2024 Jan 15. PMID 11. DOI 10.1/x. https://pubmed.ncbi.nlm.nih.gov/11/\n   {abstract_text}\n\
             2. Study 12 of H2O. Doe J, Roe R. J Water, 2024 Jan 15. PMID 12. DOI 10.1/x. https://pubmed.ncbi.nlm.nih.gov/12/"
        )
    );
    let payload = result.payload.expect("a payload");
    let articles = json!([article("11", Some(abstract_text)), article("12", None)]);
    assert_eq!(payload.kind, "pubmed_search_results");
    assert_eq!(
        payload.data,
        json!({ "query": "water[mesh]", "total": 1234, "articles": articles })
    );
    let last = heard.borrow().clone().expect("it said something");
    assert_eq!(
        (last.stage.as_str(), last.message.as_str()),
        ("reading", "Reading 2 of 2…")
    );
    let data = last.data.expect("figures");
    assert_eq!(
        serde_json::from_str::<Value>(data.as_str()).unwrap(),
        json!({ "read": 0, "listed": 2 })
    );

    let asked: Vec<String> = upstream
        .requests()
        .iter()
        .map(|request| format!("{}?{}", request.path, request.query))
        .collect();
    let who = "tool=parlor&email=ann%40example.org&api_key=the-key";
    assert_eq!(
        asked,
        [
            format!(
                "/eutils/esearch.fcgi?db=pubmed&retmode=json&term=water%5Bmesh%5D&retmax=2&sort=relevance&{who}"
            ),
            format!("/eutils/esummary.fcgi?db=pubmed&retmode=json&id=11%2C12&{who}"),
            format!("/eutils/efetch.fcgi?db=pubmed&retmode=xml&id=11%2C12&{who}"),
        ]
    );
}

#[tokio::test]
async fn null_fields_drop_no_article() {
    let (upstream, search) = pubmed(&["11"], Page::text("<PubmedArticleSet/>")).await;
    let bare = |pmid: u32| {
        json!({
            "uid": pmid, "title": null, "authors": [null, { "name": null }, { "authtype": "Author" }, { "name": "Roe R" }],
            "source": null, "fulljournalname": "Journal of Water", "pubdate": 2024, "error": null,
            "articleids": [{ "idtype": null, "value": null }, { "idtype": "doi", "value": null }],
        })
    };
    let result =
        json!({ "uids": null, "11": bare(11), "12": { "authors": null, "articleids": null }, "13": null });
    upstream.add_page("/eutils/esummary.fcgi", Page::json(&json!({ "result": result })));
    let found = json!({ "esearchresult": { "count": 3, "idlist": [11, "12", "13", null], "ERROR": null } });
    upstream.add_page("/eutils/esearch.fcgi", Page::json(&found));
    let result = search.run(input("water"), test_call::call()).await.unwrap();
    let payload = result.payload.expect("a payload").data;
    let expected = [
        PubmedArticle {
            pmid: "11".into(),
            authors: vec!["Roe R".into()],
            journal: "Journal of Water".into(),
            date: "2024".into(),
            ..PubmedArticle::default()
        },
        PubmedArticle {
            pmid: "12".into(),
            ..PubmedArticle::default()
        },
    ];
    assert_eq!(
        (&payload["total"], &payload["articles"]),
        (&json!(3), &json!(expected))
    );
}

#[tokio::test]
async fn fetches_abstracts_in_batches() {
    let ids = ["1", "2", "3", "4", "5", "6", "7"];
    let (upstream, search) = pubmed(&ids, Page::text("<PubmedArticleSet/>")).await;
    search.run(input("water"), test_call::call()).await.unwrap();
    let fetched = upstream.requests().split_off(2);
    let batches: Vec<bool> = fetched
        .iter()
        .zip(["id=1%2C2%2C3%2C4%2C5&", "id=6%2C7&"])
        .map(|(request, batch)| request.query.contains(batch))
        .collect();
    assert_eq!(batches, [true, true], "{fetched:?}");
}

#[tokio::test]
async fn returns_articles_if_abstracts_fail() {
    let broken = "<PubmedArticle><PMID>11</PMID><Abstract></Article>";
    for page in [
        Page::text(broken),
        Page::bytes(*b"<PubmedArticle>\xff\xfe</x>"),
        Page::spaces(50 << 20),
        Page::text("").status(500),
        Page::text("").status(429).header("retry-after", "3600"),
    ] {
        let (_upstream, search) = pubmed(&["11"], page).await;
        let result = search.run(input("water"), test_call::call()).await.unwrap();
        assert!(
            result.text.contains("(Abstracts are missing: PubMed "),
            "{}",
            result.text
        );
        let articles = &result.payload.expect("a payload").data["articles"];
        assert_eq!(*articles, json!([article("11", None)]));
    }
}

#[tokio::test]
async fn explains_a_failed_search() {
    let refused = json!({ "esearchresult": { "ERROR": "Search Backend failed: <b>Can't</b> parse (((" } });
    for (page, words) in [
        (
            Page::json(&refused),
            "PubMed did not understand the query: Search Backend failed: Can't parse (((",
        ),
        (
            Page::json(
                &json!({ "esearchresult": { "count": "0", "ERROR": "Search Backend failed: read request has failed" } }),
            ),
            "PubMed failed: Search Backend failed: read request has failed. Do without it, or try again later.",
        ),
        (
            Page::json(
                &json!({ "esearchresult": { "ERROR": "Search Backend failed: Can't run query executor" } }),
            ),
            "PubMed failed: ",
        ),
        (
            Page::json(&json!({ "esearchresult": { "ERROR": "Empty term and query_key - nothing todo" } })),
            "PubMed did not understand the query: Empty term",
        ),
        (
            Page::json(
                &json!({ "esearchresult": { "ERROR": "Search Backend failed: Exception:\n'retstart' cannot be larger than 9998." } }),
            ),
            "PubMed did not understand the query: Search Backend failed: Exception: 'retstart' cannot be larger",
        ),
        (
            Page::json(&json!({ "error": "API rate limit exceeded", "count": "11" })),
            "PubMed is asked too much (429).",
        ),
        (Page::text("<html>"), "PubMed sent a response that can't be read"),
        (
            Page::json(&json!({ "esearchresult": 7 })),
            "PubMed sent a response that can't be read",
        ),
        (
            Page::json(&json!({ "esearchresult": {} })),
            "PubMed sent a response that can't be read",
        ),
        (Page::spaces(50 << 20), "PubMed sent a response of more than 8 MB"),
        (
            Page::text("").status(500),
            "PubMed failed (500 Internal Server Error)",
        ),
    ] {
        let (upstream, search) = pubmed(&["11"], Page::text(ABSTRACTS_XML)).await;
        upstream.add_page("/eutils/esearch.fcgi", page);
        let error = search.run(input("water"), test_call::call()).await.unwrap_err();
        assert!(error.0.starts_with(words), "{error}");
    }
}

#[tokio::test]
async fn leaves_out_invalid_articles() {
    let (upstream, search) = pubmed(&["11", "1&term=x", "", "../12"], Page::text(ABSTRACTS_XML)).await;
    let result = search.run(input("water"), test_call::call()).await.unwrap();
    let payload = result.payload.expect("a payload");
    assert_eq!(payload.data["articles"].as_array().map(Vec::len), Some(1));

    let unknown = json!({ "result": { "uids": ["11"], "11": { "uid": "11", "error": "cannot get document summary" } } });
    upstream.add_page("/eutils/esummary.fcgi", Page::json(&unknown));
    let result = search.run(input("water"), test_call::call()).await.unwrap();
    assert!(result.text.contains("said nothing about them"), "{}", result.text);

    let odd: Value = json!({ "result": { "uids": ["11"], "11": 7 } });
    upstream.add_page("/eutils/esummary.fcgi", Page::json(&odd));
    let result = search.run(input("water"), test_call::call()).await.unwrap();
    assert_eq!(
        result.text,
        "PubMed has 1234 articles for “water”, but said nothing about them. Try again, or do without them."
    );
}

#[tokio::test]
async fn shortens_abstracts_only_for_the_model() {
    let articles: Vec<PubmedArticle> = (0..50)
        .map(|n| article(&n.to_string(), Some(&"x".repeat(10_000))))
        .collect();
    let text = format_for_model("water", 50, &articles, None);
    assert!(
        text.len() < SearchPubmed::OUTPUT_BYTES,
        "{} bytes would be cut off",
        text.len()
    );
    assert_eq!(text.matches('…').count(), 50);
}
