//! The tab *Articles*: a table with what was read out of each article, which can be filtered and sorted.

use std::cmp::Ordering;

use leptos::prelude::*;

use super::{summary::marks, texts};
use crate::{components::icons, runtime::erase::Erase};
use parlor_protocol::{
    JobId, Passage,
    number_format::group_digits,
    report::{OpenReport, Relevance, Report, ReportArticle, ReportView},
};

/// The number of rows shown at first.
const MAX_INITIAL_ROWS: usize = 100;

/// The articles that the table shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Relevant,
    New,
    NotRelevant,
    NotRead,
    All,
}

impl Shown {
    const CHOICES: [(Self, &'static str); 5] = [
        (Self::Relevant, texts::RELEVANT),
        (Self::New, texts::ONLY_NEW),
        (Self::NotRelevant, texts::NOT_RELEVANT),
        (Self::NotRead, texts::NOT_READ),
        (Self::All, texts::ALL),
    ];

    fn has(self, view: &ReportView, article: &ReportArticle) -> bool {
        match self {
            Self::Relevant => article.is_relevant(),
            Self::New => view
                .comparison
                .as_ref()
                .is_some_and(|compared| compared.comparison.is_new(&article.article.pmid)),
            Self::NotRelevant => matches!(article.relevance, Relevance::NotRelevant { .. }),
            Self::NotRead => article.problem.is_some(),
            Self::All => true,
        }
    }
}

/// A column of the table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Title,
    Category,
    Published,
    /// A field of the schema, by its number.
    Field(usize),
}

/// The order and the filter of the table.
#[derive(Clone, Copy)]
pub struct GridState {
    shown: RwSignal<Shown>,
    words: RwSignal<String>,
    /// The column that orders the rows, and whether the last comes first. Without one, the order is that of the search.
    order: RwSignal<Option<(Column, bool)>>,
    all_rows: RwSignal<bool>,
}

impl GridState {
    pub fn new() -> Self {
        Self {
            shown: RwSignal::new(Shown::Relevant),
            words: RwSignal::default(),
            order: RwSignal::new(None),
            all_rows: RwSignal::new(false),
        }
    }

    /// Orders by a column; the second time the other way round, the third time not at all.
    fn press(self, column: Column) {
        self.order.update(|order| {
            *order = match *order {
                Some((known, false)) if known == column => Some((column, true)),
                Some((known, true)) if known == column => None,
                _ => Some((column, false)),
            };
        });
    }
}

pub fn articles_tab(id: JobId, view: StoredValue<ReportView>, grid: GridState) -> AnyView {
    let (fields, has_categories, is_compared) = view.with_value(|view| {
        let report = view.report.as_ref();
        let fields: Vec<String> = report
            .map(|report| report.fields().into_iter().map(str::to_owned).collect())
            .unwrap_or_default();
        let has_categories = report.is_some_and(|report| !report.categories().is_empty());
        (fields, has_categories, view.comparison.is_some())
    });
    let rows = Memo::new(move |_| {
        view.with_value(|view| match &view.report {
            Some(report) => matching(view, report, grid),
            None => Vec::new(),
        })
    });
    let heads: Vec<_> = [(Column::Title, texts::ARTICLE.to_owned())]
        .into_iter()
        .chain(has_categories.then(|| (Column::Category, texts::CATEGORY.to_owned())))
        .chain(
            fields
                .iter()
                .enumerate()
                .map(|(number, name)| (Column::Field(number), name.clone())),
        )
        .chain([(Column::Published, texts::PUBLISHED.to_owned())])
        .map(|(column, name)| head(grid, column, name))
        .collect();
    let body = move || {
        let limit = if grid.all_rows.get() {
            usize::MAX
        } else {
            MAX_INITIAL_ROWS
        };
        view.with_value(|view| {
            let articles = view.report.as_ref().map(|report| &report.articles);
            rows.with(|rows| {
                let shown = rows.iter().take(limit);
                let shown = shown.filter_map(|row| articles?.get(*row));
                shown
                    .map(|article| row(id, view, article, has_categories))
                    .collect::<Vec<_>>()
            })
        })
    };
    let more = move || {
        (!grid.all_rows.get() && rows.with(Vec::len) > MAX_INITIAL_ROWS).then(|| {
            view! { <button type="button" class="button needs-script" on:click=move |_| grid.all_rows.set(true)>{texts::SHOW_ALL}</button> }
                .erase()
        })
    };
    let count = move || texts::articles(&group_digits(rows.with(Vec::len) as u64));
    view! {
        {filter(grid, is_compared)}
        <p class="literature-count" role="status">{count}</p>
        <div class="report-table" tabindex="0" role="region" aria-label=texts::ARTICLES>
            <table>
                <thead><tr>{heads}</tr></thead>
                <tbody>{body}</tbody>
            </table>
        </div>
        {more}
    }
    .erase()
}

fn filter(grid: GridState, is_compared: bool) -> AnyView {
    let choices = Shown::CHOICES
        .into_iter()
        .enumerate()
        .filter(|(_, (shown, _))| *shown != Shown::New || is_compared)
        .map(|(number, (shown, name))| {
            let is_chosen = move || grid.shown.get() == shown;
            view! { <option value=number.to_string() selected=is_chosen>{name}</option> }.erase()
        });
    let choices: Vec<_> = choices.collect();
    let choose = move |event| {
        let number: Option<usize> = event_target_value(&event).parse().ok();
        if let Some((shown, _)) = number.and_then(|number| Shown::CHOICES.get(number)) {
            grid.shown.set(*shown);
        }
    };
    view! {
        <form class="search-box needs-script" role="search" on:submit=|event| event.prevent_default()>
            <input
                type="search"
                aria-label=texts::FIND
                placeholder=texts::FIND
                autocomplete="off"
                dir="auto"
                prop:value=move || grid.words.get()
                on:input=move |event| grid.words.set(event_target_value(&event))
            />
            <select aria-label=texts::WHICH on:change=choose>{choices}</select>
        </form>
    }
    .erase()
}

fn head(grid: GridState, column: Column, name: String) -> AnyView {
    let order = move || match grid.order.get() {
        Some((known, is_last_first)) if known == column => match is_last_first {
            true => Some("descending"),
            false => Some("ascending"),
        },
        _ => None,
    };
    view! {
        <th scope="col" aria-sort=order>
            <button type="button" class="md-sort" dir="auto" on:click=move |_| grid.press(column)>{name}</button>
        </th>
    }
    .erase()
}

fn row(id: JobId, view: &ReportView, article: &ReportArticle, has_categories: bool) -> AnyView {
    let about = &article.article;
    let url = OpenReport::article(id, &about.pmid, "").to_url();
    let category =
        has_categories.then(|| view! { <td dir="auto">{article.category.clone().unwrap_or_default()}</td> });
    let cells: Vec<_> = article
        .cells
        .iter()
        .map(|cell| {
            let mark = match (&cell.passage, cell.value.is_empty()) {
                (Passage::NotFound { .. }, false) => Some(view! {
                    <span class="report-mark" title=texts::NO_SOURCE>{icons::alert()} <span class="visually-hidden">{texts::NO_SOURCE}</span></span>
                }),
                _ => None,
            };
            let passage = match &cell.passage {
                Passage::Found(found) => Some(found.text.clone()),
                Passage::NotFound { .. } => None,
            };
            view! { <td dir="auto" title=passage>{cell.value.clone()} " " {mark}</td> }.erase()
        })
        .collect();
    // An article that was not read has no cells.
    let fields = view.report.as_ref().map_or(0, |report| report.fields().len());
    let missing = fields.saturating_sub(cells.len());
    let missing: Vec<_> = (0..missing).map(|_| view! { <td></td> }.erase()).collect();
    view! {
        <tr>
            <th scope="row"><a href=url dir="auto">{about.title.clone()}</a> {marks(view, article)}</th>
            {category}
            {cells}
            {missing}
            <td dir="auto">{about.published.clone()}</td>
        </tr>
    }
    .erase()
}

/// Returns the rows to show: the numbers of their articles.
fn matching(view: &ReportView, report: &Report, grid: GridState) -> Vec<usize> {
    let shown = grid.shown.get();
    let words = grid.words.with(|words| words.to_lowercase());
    let is_matching = |article: &ReportArticle| {
        let text = text_of(article).to_lowercase();
        words.split_whitespace().all(|word| text.contains(word))
    };
    let articles = report.articles.iter().enumerate();
    let mut rows: Vec<usize> = articles
        .filter(|(_, article)| shown.has(view, article) && is_matching(article))
        .map(|(number, _)| number)
        .collect();
    if let Some((column, is_last_first)) = grid.order.get() {
        let of = |row: usize| report.articles.get(row).map(|article| value(article, column));
        // The search has the newest first.
        if column == Column::Published {
            if !is_last_first {
                rows.reverse();
            }
        } else {
            rows.sort_by(|a, b| match (of(*a), of(*b)) {
                (Some(a), Some(b)) => compare(&a, &b, is_last_first),
                _ => Ordering::Equal,
            });
        }
    }
    rows
}

/// Returns the value of an article in a column.
fn value(article: &ReportArticle, column: Column) -> String {
    match column {
        Column::Title => article.article.title.clone(),
        Column::Category => article.category.clone().unwrap_or_default(),
        Column::Published => article.article.published.clone(),
        Column::Field(number) => {
            let cell = article.cells.get(number);
            cell.map(|cell| cell.value.clone()).unwrap_or_default()
        }
    }
}

/// Compares two values: numbers as numbers, all else as text; empty ones are last in either direction.
fn compare(a: &str, b: &str, is_last_first: bool) -> Ordering {
    match (a.is_empty(), b.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let order = match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.total_cmp(&b),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => a.to_lowercase().cmp(&b.to_lowercase()),
    };
    if is_last_first { order.reverse() } else { order }
}

/// Returns all text of an article that the filter looks in.
fn text_of(article: &ReportArticle) -> String {
    let about = &article.article;
    let mut text = [
        about.title.as_str(),
        &about.authors.join(" "),
        &about.journal,
        &about.published,
        &about.pmid,
        article.category.as_deref().unwrap_or_default(),
    ]
    .join(" ");
    for cell in &article.cells {
        text.push(' ');
        text.push_str(&cell.value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_numbers_as_numbers_and_empty_values_last() {
        let mut values = ["b", "10", "", "9", "A", "-1"];
        values.sort_by(|a, b| compare(a, b, false));
        assert_eq!(values, ["-1", "9", "10", "A", "b", ""]);
        values.sort_by(|a, b| compare(a, b, true));
        assert_eq!(values, ["b", "A", "10", "9", "-1", ""]);
    }
}
