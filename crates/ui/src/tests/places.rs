//! The list marks the place that is shown.

use super::{pages, render_html};

/// The targets of the list's links that are marked as the current place.
fn marked_places(url: &str) -> Vec<String> {
    let mut page = pages::page("text");
    page.listed_pages = Ok(vec!["streams".into(), "literature".into()]);
    page.person = None;
    let html = render_html(&page, url);
    let rows = html.split('<').filter(|tag| tag.contains("class=\"nav-row\""));
    let marked = rows.filter(|tag| tag.contains("aria-current=\"page\""));
    let target = |tag: &str| tag.split("href=\"").nth(1)?.split('"').next().map(str::to_owned);
    marked.filter_map(target).collect()
}

#[test]
fn one_row_of_the_list_is_the_current_place() {
    for (url, expected) in [
        ("/", "/"),
        ("/literature/saved", "/literature"),
        ("/streams", "/streams"),
        // It has no row of its own.
        ("/stream/new", "/streams"),
        ("/settings/models", "/settings"),
    ] {
        let marked: Vec<String> = marked_places(url)
            .into_iter()
            .filter(|place| !place.starts_with("/settings/"))
            .collect();
        assert_eq!(marked, [expected], "{url}");
    }
}
