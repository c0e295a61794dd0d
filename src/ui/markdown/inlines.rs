//! Running text.

use leptos::prelude::*;

use super::{
    blocks::Page,
    footnotes,
    grow::List,
    node::{Piece, PieceKind},
    text::Growing,
};
use crate::{
    markdown::number_text,
    protocol::Source,
    ui::{REL, erase::Erase},
};

/// Text that can grow.
pub fn growing(pieces: &List<Piece>, page: &Page) -> AnyView {
    let page = page.clone();
    pieces.view(|piece| piece.key, move |piece| one(&piece, &page))
}

/// Text that stays as it is.
pub fn all(pieces: &[Piece], page: &Page) -> Vec<AnyView> {
    pieces.iter().map(|piece| one(piece, page)).collect()
}

fn one(piece: &Piece, page: &Page) -> AnyView {
    match &piece.kind {
        PieceKind::Text(text) => {
            let text = text.clone();
            (move || Growing(text.get())).erase()
        }
        PieceKind::Code(text) => view! { <code>{text.to_string()}</code> }.erase(),
        PieceKind::Emphasis(children) => view! { <em>{all(children, page)}</em> }.erase(),
        PieceKind::Strong(children) => view! { <strong>{all(children, page)}</strong> }.erase(),
        PieceKind::Strikethrough(children) => view! { <del>{all(children, page)}</del> }.erase(),
        PieceKind::Link {
            href,
            title,
            children,
        } => {
            let (href, title) = (href.to_string(), title.as_deref().map(str::to_owned));
            view! {
                <a class="md-link" href=href title=title target="_blank" rel=REL>
                    {all(children, page)}
                </a>
            }
            .erase()
        }
        PieceKind::Image { href, title, alt } => {
            let name = if alt.trim().is_empty() {
                href.to_string()
            } else {
                alt.to_string()
            };
            let (href, title) = (href.to_string(), title.as_deref().map(str::to_owned));
            view! {
                <a class="md-link md-image" href=href title=title target="_blank" rel=REL>
                    {name}
                </a>
            }
            .erase()
        }
        PieceKind::Reference(label) => footnotes::reference(label, piece.key, page),
        PieceKind::Citation(number) => citation(*number, page),
        PieceKind::HardBreak => view! { <br/> }.erase(),
    }
}

/// The number of a source leads there, once it is known that there is one.
fn citation(number: usize, page: &Page) -> AnyView {
    let text = number_text(number);
    // In an element of its own: on the server's page the texts beside it would be one with it.
    let plain = move |text: String| view! { <span>{text}</span> }.erase();
    let Some(cited) = page.cited.clone() else {
        return plain(text);
    };
    let shown = move || match cited(number) {
        Some(Source { title, url, .. }) => {
            let title = if title.is_empty() { url.clone() } else { title };
            view! { <a class="md-link citation" href=url title=title target="_blank" rel=REL>{text.clone()}</a> }.erase()
        }
        None => plain(text.clone()),
    };
    shown.erase()
}
