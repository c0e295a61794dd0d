//! The definition of a page for the assistant: its identity and capabilities, by tab and subtab.

use super::{
    actions::Opening,
    payload_config::{self, PayloadConfig},
};
use parlor_protocol::PageInfo;

/// A page, as the assistant knows it.
#[derive(Debug)]
pub struct PageDefinition {
    pub info: &'static PageInfo,
    /// The assistant's identity on the page.
    pub identity: &'static str,
    /// The identity in a sentence or two, for a model with a small window.
    pub brief_identity: &'static str,
    /// The scope of the whole page.
    pub scope: Scope,
    /// The tabs. A request that names none means the first.
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
    /// The things that the page can open.
    pub openings: &'static [Opening],
}

/// The scope of every location. Common tools are offered by the registry.
const COMMON_SCOPE: Scope = Scope {
    tools: &[],
    payloads: &payload_config::COMMON_PAYLOADS,
    openings: &[],
};

impl Scope {
    /// A scope that adds nothing.
    pub const EMPTY: Self = Self {
        tools: &[],
        payloads: &[],
        openings: &[],
    };
}

/// All capabilities at a location: the common ones and those of the page, its tab and its subtab, without
/// duplicates.
#[derive(Debug)]
pub struct ResolvedScope {
    pub page: &'static PageDefinition,
    pub tools: Vec<&'static str>,
    pub payloads: Vec<&'static PayloadConfig>,
    pub openings: Vec<Opening>,
}

impl PageDefinition {
    /// Returns the tab with this name, or the first one without a name. An unknown name has no tab.
    pub fn tab(&self, name: Option<&str>) -> Option<&'static Tab> {
        match name {
            Some(name) => self.tabs.iter().find(|tab| tab.name == name),
            None => self.tabs.first(),
        }
    }

    /// Returns all scopes of the page, its tabs and their subtabs.
    pub fn scopes(&self) -> impl Iterator<Item = &Scope> {
        let subtabs = |tab: &'static Tab| tab.subtabs.iter().map(|subtab| &subtab.scope);
        let tabs = self.tabs.iter();
        let tabs = tabs.flat_map(move |tab| std::iter::once(&tab.scope).chain(subtabs(tab)));
        std::iter::once(&self.scope).chain(tabs)
    }

    /// Returns the scope of the page, a tab and a subtab. Unknown ones add nothing.
    pub fn resolve(&'static self, tab: Option<&str>, subtab: Option<&str>) -> ResolvedScope {
        let tab = self.tab(tab);
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
            openings: dedup_by_name(of().flat_map(|scope| scope.openings), |opening| opening.data),
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
    use super::{payload_config::TABLE, *};
    use crate::literature::QUERY_SUGGESTION;

    const fn scope_with_tools(tools: &'static [&'static str]) -> Scope {
        Scope {
            tools,
            ..Scope::EMPTY
        }
    }

    static TEST_PAGE_INFO: PageInfo = PageInfo {
        name: "desk",
        path: "/desk",
        title: "Desk",
        has_tray: true,
    };

    static TEST_PAGE: PageDefinition = PageDefinition {
        info: &TEST_PAGE_INFO,
        identity: "You tidy up.",
        brief_identity: "You tidy up.",
        scope: Scope {
            payloads: &[&QUERY_SUGGESTION, &TABLE],
            ..scope_with_tools(&["sweep"])
        },
        tabs: &[
            Tab {
                name: "top",
                scope: Scope::EMPTY,
                subtabs: &[],
            },
            Tab {
                name: "drawers",
                scope: scope_with_tools(&["open", "sweep"]),
                subtabs: &[Subtab {
                    name: "left",
                    scope: scope_with_tools(&["sort"]),
                }],
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
        }
    }

    #[test]
    fn first_tab_is_the_default() {
        static PAGE: PageDefinition = PageDefinition {
            info: &TEST_PAGE_INFO,
            identity: "",
            brief_identity: "",
            scope: Scope::EMPTY,
            tabs: &[
                Tab {
                    name: "drawers",
                    scope: scope_with_tools(&["open"]),
                    subtabs: &[],
                },
                Tab {
                    name: "top",
                    scope: scope_with_tools(&["wipe"]),
                    subtabs: &[],
                },
            ],
        };
        for (tab, tools) in [
            (None, vec!["open"]),
            (Some("drawers"), vec!["open"]),
            (Some("top"), vec!["wipe"]),
            (Some("gone"), vec![]),
        ] {
            assert_eq!(PAGE.resolve(tab, None).tools, tools, "{tab:?}");
        }
    }
}
