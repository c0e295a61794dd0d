//! Running text.

use leptos::prelude::*;

use super::{
    blocks::Page,
    footnotes,
    grow::List,
    node::{Piece, PieceKind},
    text::Growing,
};
use crate::ui::erase::Erase;

/// What a link to somewhere else must not do: see this page, know where the reader came from, vouch for the target.
const REL: &str = "noopener noreferrer nofollow";

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
        PieceKind::HardBreak => view! { <br/> }.erase(),
    }
}
