//! The tokens: every custom property of the style sheet, as a swatch or a line of text.

use std::fmt::Write;

use leptos::prelude::*;

use crate::runtime::erase::Erase;

const TOKENS: &str = include_str!("../../../../style/tokens.css");

/// The styles of the page itself.
const LAYOUT: &str = include_str!("design.css");

/// The names of all tokens, without the dashes at their beginning.
fn names() -> impl Iterator<Item = &'static str> {
    let mut seen = Vec::new();
    TOKENS.lines().filter_map(move |line| {
        let (name, _) = line.trim_start().strip_prefix("--")?.split_once(':')?;
        (!seen.contains(&name)).then(|| {
            seen.push(name);
            name
        })
    })
}

/// The property that shows a token.
fn property(name: &str) -> &'static str {
    let begins = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    match name {
        _ if begins(&["size-"]) => "font-size",
        _ if begins(&["leading"]) => "line-height",
        _ if begins(&["font-"]) => "font-family",
        _ if begins(&["weight-"]) => "font-weight",
        _ if begins(&["tracking"]) => "letter-spacing",
        _ if begins(&["space-", "measure", "target", "row", "sidebar-", "page-"]) => "width",
        _ if begins(&["radius"]) => "border-radius",
        _ if begins(&["shadow"]) => "box-shadow",
        _ if begins(&["quick", "calm"]) => "transition-duration",
        _ => "background",
    }
}

/// The style sheet of the page: one rule for each token.
pub fn stylesheet() -> String {
    let mut rules = LAYOUT.to_owned();
    for name in names() {
        // Writing to a string does not fail.
        let _ = writeln!(rules, ".token-{name} {{ {}: var(--{name}); }}", property(name));
    }
    rules
}

/// A swatch of each token.
pub fn swatches() -> AnyView {
    let swatches: Vec<_> = names()
        .map(|name| {
            let sample = match property(name) {
                "font-size" | "font-weight" | "letter-spacing" | "line-height" | "font-family" => {
                    "The quick brown fox"
                }
                _ => "",
            };
            view! {
                <li>
                    <span class=["design-swatch token-", name].concat()>{sample}</span>
                    <code>{name}</code>
                </li>
            }
        })
        .collect();
    view! { <ul class="design-tokens">{swatches}</ul> }.erase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_has_a_rule() {
        let sheet = stylesheet();
        let names: Vec<_> = names().collect();
        assert!(
            names.contains(&"accent") && names.contains(&"space-8"),
            "{names:?}"
        );
        assert!(sheet.contains(".token-accent { background: var(--accent); }"));
        assert!(sheet.contains(".token-radius { border-radius: var(--radius); }"));
    }
}
