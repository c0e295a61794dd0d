//! The saved articles as a table, with the person's columns.

use std::sync::Arc;

use leptos::prelude::*;

use super::{state::LiteratureState, texts};
use crate::{
    columns::{BaseRow, BaseRows, ColumnsState, columns_grid},
    grid::{GridCell, GridChoices, GridColumn, GridRow},
};
use parlor_protocol::{
    columns::ColumnSource,
    literature::{LiteratureLocation, LiteratureTab, SavedArticle},
};

/// The table of the articles, filtered by words.
pub fn saved_table(state: LiteratureState, words: Memo<String>) -> AnyView {
    let base = Memo::new(move |_| {
        let column = |name: &str| GridColumn {
            name: name.into(),
            ..GridColumn::default()
        };
        let columns = [texts::ARTICLE, texts::JOURNAL, texts::PUBLISHED, texts::NOTE];
        Arc::new(BaseRows {
            label: texts::SAVED_ARTICLES.into(),
            columns: columns.map(column).into(),
            lead: 1,
            rows: state.with_library(|library| library.articles.iter().map(row).collect()),
        })
    });
    let columns = ColumnsState::new("columns-grid", ColumnSource::Articles, base, |pmid, quote| {
        Some(location(pmid, quote).to_url())
    });
    columns.start();
    columns_grid(columns, GridChoices::with_filter(words))
}

fn row(saved: &SavedArticle) -> BaseRow {
    let article = &saved.article;
    BaseRow {
        key: article.pmid.clone(),
        row: GridRow {
            cells: vec![
                GridCell {
                    href: Some(location(&article.pmid, "").to_url()),
                    ..GridCell::text(article.title.clone())
                },
                GridCell::text(article.journal.clone()),
                GridCell {
                    order: Some(date_order(&article.published)),
                    ..GridCell::text(article.published.clone())
                },
                GridCell::text(saved.note.clone()),
            ],
            words: [&article.authors.join(" "), " ", &article.pmid].concat(),
        },
    }
}

fn location(pmid: &str, quote: &str) -> LiteratureLocation {
    LiteratureLocation {
        tab: LiteratureTab::Saved,
        is_table: true,
        article: Some(pmid.into()),
        quote: quote.into(),
        ..LiteratureLocation::default()
    }
}

/// Returns a text that orders dates as PubMed writes them: `2024 Mar 5`.
fn date_order(published: &str) -> String {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let number = |word: &str| {
        let month = word.get(..3).map(str::to_lowercase);
        let month = MONTHS.iter().position(|name| month.as_deref() == Some(name));
        month.map(|month| month + 1).or_else(|| word.parse().ok())
    };
    // A number, so that it is compared as one.
    let mut words = published.split([' ', '-']);
    let mut next = || words.next().and_then(number).unwrap_or_default();
    let (year, month, day) = (next(), next(), next());
    match year {
        0 => String::new(),
        year => (year * 10_000 + month.min(99) * 100 + day.min(99)).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_ordered_by_year_and_month() {
        let dates = ["", "2023 Dec 31", "2024", "2024 Feb", "2024 Mar 5", "2024 Mar 12"];
        let orders: Vec<usize> = dates
            .iter()
            .map(|date| date_order(date).parse().unwrap_or_default())
            .collect();
        assert!(orders.is_sorted(), "{orders:?}");
        assert_eq!(date_order("2024 Mar-Apr"), "20240304");
    }
}
