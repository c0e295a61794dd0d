//! The definition of a page for the assistant: its identity and capabilities, by tab and subtab.

use super::{
    actions::{self, ClientAction},
    payload_config::{self, PayloadConfig},
};

/// A page, as the assistant knows it.
#[derive(Debug)]
pub struct Page {
    /// The name of the page in requests.
    pub name: &'static str,
    /// The assistant's identity on the page.
    pub identity: &'static str,
    /// The identity in a sentence or two, for a model with a small window.
    pub brief_identity: &'static str,
    /// The scope of the whole page.
    pub scope: Scope,
    pub tabs: &'static [Tab],
}

/// A part of a page, of which one is shown at a time.
#[derive(Debug)]
pub struct Tab {
    pub name: &'static str,
    pub scope: Scope,
    pub subtabs: &'static [Subtab],
}

/// A part of a tab.
#[derive(Debug)]
pub struct Subtab {
    pub name: &'static str,
    pub scope: Scope,
}

/// The capabilities of a location, besides the common ones.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// The names of tools in the registry.
    pub tools: &'static [&'static str],
    /// The payload types that the model may write.
    pub payloads: &'static [&'static PayloadConfig],
    /// The actions that the page performs when the user presses a button.
    pub actions: &'static [&'static ClientAction],
}

/// The scope of every location. Common tools are offered by the registry.
const COMMON_SCOPE: Scope = Scope {
    tools: &[],
    payloads: &payload_config::COMMON_PAYLOADS,
    actions: &actions::COMMON_ACTIONS,
};

impl Scope {
    /// A scope that adds nothing.
    pub const EMPTY: Self = Self {
        tools: &[],
        payloads: &[],
        actions: &[],
    };
}

/// All capabilities at a location: the common ones and those of the page, its tab and its subtab, without
/// duplicates.
#[derive(Debug)]
pub struct ResolvedScope {
    pub page: &'static Page,
    pub tools: Vec<&'static str>,
    pub payloads: Vec<&'static PayloadConfig>,
    pub actions: Vec<&'static ClientAction>,
}

impl Page {
    /// Returns the tab with this name.
    pub fn tab(&self, name: &str) -> Option<&'static Tab> {
        self.tabs.iter().find(|tab| tab.name == name)
    }

    /// Returns the scope of the page, a tab and a subtab. Unknown ones add nothing.
    pub fn resolve(&'static self, tab: Option<&str>, subtab: Option<&str>) -> ResolvedScope {
        let tab = tab.and_then(|name| self.tab(name));
        let subtab = tab.zip(subtab).and_then(|(tab, name)| tab.subtab(name));
        let scopes = [
            Some(COMMON_SCOPE),
            Some(self.scope),
            tab.map(|tab| tab.scope),
            subtab.map(|subtab| subtab.scope),
        ];
        let scopes: Vec<Scope> = scopes.into_iter().flatten().collect();
        let of = || scopes.iter();
        ResolvedScope {
            page: self,
            tools: dedup_by_name(of().flat_map(|scope| scope.tools), |name| name),
            payloads: dedup_by_name(of().flat_map(|scope| scope.payloads), |config| {
                config.payload_type
            }),
            actions: dedup_by_name(of().flat_map(|scope| scope.actions), |action| action.name),
        }
    }
}

/// Removes duplicates by name. The first one is kept.
fn dedup_by_name<T: Copy + 'static>(
    all: impl Iterator<Item = &'static T>,
    name: impl Fn(&T) -> &'static str,
) -> Vec<T> {
    let mut once: Vec<T> = Vec::new();
    for thing in all {
        if !once.iter().any(|known| name(known) == name(thing)) {
            once.push(*thing);
        }
    }
    once
}

impl Tab {
    /// Returns the subtab with this name.
    pub fn subtab(&self, name: &str) -> Option<&'static Subtab> {
        self.subtabs.iter().find(|subtab| subtab.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        payload_config::{QUERY_SUGGESTION, TABLE},
        *,
    };

    const fn scope_with_tools(tools: &'static [&'static str]) -> Scope {
        Scope {
            tools,
            ..Scope::EMPTY
        }
    }

    static TEST_PAGE: Page = Page {
        name: "desk",
        identity: "You tidy up.",
        brief_identity: "You tidy up.",
        scope: Scope {
            payloads: &[&QUERY_SUGGESTION, &TABLE],
            ..scope_with_tools(&["sweep"])
        },
        tabs: &[
            Tab {
                name: "drawers",
                scope: scope_with_tools(&["open", "sweep"]),
                subtabs: &[Subtab {
                    name: "left",
                    scope: scope_with_tools(&["sort"]),
                }],
            },
            Tab {
                name: "top",
                scope: Scope::EMPTY,
                subtabs: &[],
            },
        ],
    };

    #[test]
    fn scope_combines_page_tab_and_subtab() {
        let cases: [(Option<&str>, Option<&str>, &[&str]); 6] = [
            (None, None, &["sweep"]),
            (Some("top"), None, &["sweep"]),
            (Some("drawers"), None, &["sweep", "open"]),
            (Some("drawers"), Some("left"), &["sweep", "open", "sort"]),
            (Some("top"), Some("left"), &["sweep"]),
            (None, Some("left"), &["sweep"]),
        ];
        for (tab, subtab, tools) in cases {
            let here = TEST_PAGE.resolve(tab, subtab);
            assert_eq!(here.tools, tools, "{tab:?} {subtab:?}");
            let payloads: Vec<&str> = here.payloads.iter().map(|config| config.payload_type).collect();
            assert_eq!(payloads, ["text_document", "table", "chart", "query_suggestion"]);
            assert_eq!(here.actions.len(), actions::COMMON_ACTIONS.len());
        }
    }
}
