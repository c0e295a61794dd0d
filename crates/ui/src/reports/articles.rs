//! The tab *Articles*: a grid with what was read out of each article, which can be filtered and sorted.

use std::sync::Arc;

use leptos::prelude::*;

use super::texts;
use crate::{
    grid::{CellMark, Grid, GridCell, GridChoices, GridColumn, GridContent, GridRow, grid},
    runtime::erase::Erase,
};
use parlor_protocol::{
    JobId, Passage,
    number_format::group_digits,
    report::{Cell, OpenReport, Relevance, Report, ReportArticle, ReportView},
};

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

/// The order and the filter of the table.
#[derive(Clone, Copy)]
pub struct GridState {
    shown: RwSignal<Shown>,
    choices: GridChoices,
}

impl GridState {
    pub fn new() -> Self {
        Self {
            shown: RwSignal::new(Shown::Relevant),
            choices: GridChoices::new(),
        }
    }
}

pub fn articles_tab(id: JobId, view: StoredValue<ReportView>, state: GridState) -> AnyView {
    let is_compared = view.with_value(|view| view.comparison.is_some());
    let content = Memo::new(move |_| {
        let shown = state.shown.get();
        view.with_value(|view| {
            let report = view.report.as_ref();
            Arc::new(report.map_or_else(GridContent::default, |report| content(id, view, report, shown)))
        })
    });
    // Nothing of it opens in place.
    let table = Grid::new("report-grid", content, state.choices, |_, _| {});
    let count = move || texts::articles(&group_digits(table.count() as u64));
    view! {
        {filter(state, is_compared)}
        <p class="literature-count" role="status">{count}</p>
        {grid(table)}
    }
    .erase()
}

fn filter(state: GridState, is_compared: bool) -> AnyView {
    let choices = Shown::CHOICES
        .into_iter()
        .enumerate()
        .filter(|(_, (shown, _))| *shown != Shown::New || is_compared)
        .map(|(number, (shown, name))| {
            let is_chosen = move || state.shown.get() == shown;
            view! { <option value=number.to_string() selected=is_chosen>{name}</option> }.erase()
        });
    let choices: Vec<_> = choices.collect();
    let choose = move |event| {
        let number: Option<usize> = event_target_value(&event).parse().ok();
        if let Some((shown, _)) = number.and_then(|number| Shown::CHOICES.get(number)) {
            state.shown.set(*shown);
        }
    };
    let words = state.choices.filter;
    view! {
        <form class="search-box needs-script" role="search" on:submit=|event| event.prevent_default()>
            <input
                type="search"
                aria-label=texts::FIND
                placeholder=texts::FIND
                autocomplete="off"
                dir="auto"
                prop:value=move || words.get()
                on:input=move |event| words.set(event_target_value(&event))
            />
            <select aria-label=texts::WHICH on:change=choose>{choices}</select>
        </form>
    }
    .erase()
}

/// Returns what the grid shows of a report.
fn content(id: JobId, view: &ReportView, report: &Report, shown: Shown) -> GridContent {
    let has_categories = !report.categories().is_empty();
    let fields = report.fields();
    let names = [texts::ARTICLE]
        .into_iter()
        .chain(has_categories.then_some(texts::CATEGORY))
        .chain(fields.iter().copied())
        .chain([texts::PUBLISHED]);
    let column = |name: &str| GridColumn {
        name: name.into(),
        ..GridColumn::default()
    };
    let count = report.articles.len();
    let rows = report.articles.iter().enumerate();
    let rows = rows.filter(|(_, article)| shown.has(view, article));
    let rows = rows.map(|(number, article)| {
        let about = &article.article;
        let title = GridCell {
            href: Some(OpenReport::article(id, &about.pmid, "").to_url()),
            marks: marks(view, article),
            ..GridCell::text(about.title.clone())
        };
        let category = has_categories.then(|| GridCell::text(article.category.clone().unwrap_or_default()));
        // An article that was not read has no cells.
        let cells = (0..fields.len()).map(|field| article.cells.get(field).map(answer).unwrap_or_default());
        let published = GridCell {
            // The search has the newest first.
            order: Some((count - number).to_string()),
            ..GridCell::text(about.published.clone())
        };
        GridRow {
            cells: [title]
                .into_iter()
                .chain(category)
                .chain(cells)
                .chain([published])
                .collect(),
            words: [&about.authors.join(" "), &*about.journal, &*about.pmid].join(" "),
        }
    });
    GridContent {
        label: texts::ARTICLES.into(),
        columns: names.map(column).collect(),
        rows: rows.collect(),
        page: None,
    }
}

fn answer(cell: &Cell) -> GridCell {
    let is_unsupported = matches!(&cell.passage, Passage::NotFound { .. }) && !cell.value.is_empty();
    let about = match &cell.passage {
        Passage::Found(found) if !cell.value.is_empty() => ["“", &found.text, "”"].concat(),
        _ => String::new(),
    };
    GridCell {
        about,
        marks: is_unsupported
            .then(|| CellMark::Problem(texts::NO_SOURCE.into()))
            .into_iter()
            .collect(),
        ..GridCell::text(cell.value.clone())
    }
}

/// The marks of an article: retracted, new, in another category than before.
fn marks(view: &ReportView, article: &ReportArticle) -> Vec<CellMark> {
    let comparison = view.comparison.as_ref().map(|compared| &compared.comparison);
    let pmid = &article.article.pmid;
    let retracted = article.retracted.then(|| texts::RETRACTED.to_owned());
    let is_new = comparison.is_some_and(|comparison| comparison.is_new(pmid));
    let moved = comparison.and_then(|comparison| comparison.moved(pmid));
    let notes = retracted
        .into_iter()
        .chain(is_new.then(|| texts::IS_NEW.to_owned()))
        .chain(moved.map(|moved| texts::moved_from(moved.from.as_deref())));
    notes.map(CellMark::Note).collect()
}
