//! Searches and articles on the page, and the access rules for them.

use serde_json::json;
use upstream::Page;

use super::start_parlor;
use crate::support::read_json as body;

#[tokio::test]
async fn search_results_are_paged() {
    let (_folder, upstream, parlor) = start_parlor().await;
    let path = "/rpc/search_articles?query=tides&sort=date&page=2";
    let found = parlor.get_json(path).await.1;
    assert_eq!(
        (&found["page"], &found["pages"], &found["total"]),
        (&json!(2), &json!(3), &json!(41)),
        "{found}"
    );
    assert_eq!(found["articles"][0]["title"], "Tides of the moon");
    let asked = upstream.requests().into_iter();
    let mut searches = asked.filter(|request| request.path.contains("esearch"));
    let search = searches.next_back().expect("a search").query;
    assert!(
        search.contains("retstart=20") && search.contains("sort=pub_date"),
        "{search}"
    );
    upstream.add_page("/eutils/esearch.fcgi", Page::text("").status(500));
    let failed = parlor.get(path).send().await.unwrap();
    assert_eq!(failed.status(), 503);
    assert!(body(failed).await["message"].as_str().unwrap().contains("PubMed"));
}

#[tokio::test]
async fn missing_literature_items_return_specific_errors() {
    let (_folder, _upstream, parlor) = start_parlor().await;
    let note = json!({ "pmid": "11", "note": "Gone.", "replaces": [""] });
    let gone = parlor.post("/rpc/set_article_note", &note).send().await.unwrap();
    let nowhere = parlor
        .get("/rpc/open_page?address=/elsewhere")
        .send()
        .await
        .unwrap();
    for (response, words) in [(gone, "removed elsewhere"), (nowhere, "no such place")] {
        assert_eq!(response.status(), 404);
        let error = body(response).await;
        assert!(error["message"].as_str().unwrap().contains(words), "{error}");
    }
}

#[tokio::test]
async fn cross_site_page_cannot_query_pubmed() {
    let (_folder, upstream, parlor) = start_parlor().await;
    for path in [
        "/literature?q=tides",
        "/rpc/search_articles?query=tides&sort=date&page=1",
        "/rpc/article?pmid=11",
    ] {
        let image = parlor.get(path).header("sec-fetch-site", "cross-site");
        let image = image
            .header("sec-fetch-mode", "no-cors")
            .header("sec-fetch-dest", "image");
        assert_eq!(image.send().await.unwrap().status(), 403, "{path}");
    }
    let asked = upstream.requests().into_iter();
    let mut of_pubmed = asked.filter(|request| request.path.starts_with("/eutils"));
    assert!(of_pubmed.next().is_none());
}
