//! What a page is to the assistant: who it is there, and what it can do there, by tab and subtab.

/// A page, as the assistant knows it.
#[derive(Debug)]
pub struct Page {
    /// What requests call it.
    pub name: &'static str,
    /// Who the assistant is there.
    pub identity: &'static str,
    /// What there is on all of it.
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

/// What there is in a place beside what there is everywhere, by name.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// Tools, as the registry knows them.
    pub tools: &'static [&'static str],
    /// Types of payloads that the model can make.
    pub payloads: &'static [&'static str],
    /// Actions that the page performs.
    pub actions: &'static [&'static str],
}

impl Scope {
    /// Nothing more than there is anyway.
    pub const NOTHING: Self = Self {
        tools: &[],
        payloads: &[],
        actions: &[],
    };
}

/// What there is where a person is: of the page, its tab and its subtab, without repeats.
#[derive(Debug)]
pub struct Here {
    pub page: &'static Page,
    pub tools: Vec<&'static str>,
    pub payloads: Vec<&'static str>,
    pub actions: Vec<&'static str>,
}

impl Page {
    /// The tab of this name.
    pub fn tab(&self, name: &str) -> Option<&'static Tab> {
        self.tabs.iter().find(|tab| tab.name == name)
    }

    /// What there is on the page, in a tab and a subtab of it. What it does not have adds nothing.
    pub fn here(&'static self, tab: Option<&str>, subtab: Option<&str>) -> Here {
        let tab = tab.and_then(|name| self.tab(name));
        let subtab = tab.zip(subtab).and_then(|(tab, name)| tab.subtab(name));
        let scopes = [
            Some(self.scope),
            tab.map(|tab| tab.scope),
            subtab.map(|subtab| subtab.scope),
        ];
        let scopes: Vec<Scope> = scopes.into_iter().flatten().collect();
        let all = |names: fn(&Scope) -> &'static [&'static str]| {
            let mut all = Vec::new();
            for name in scopes.iter().flat_map(names) {
                if !all.contains(name) {
                    all.push(*name);
                }
            }
            all
        };
        Here {
            page: self,
            tools: all(|scope| scope.tools),
            payloads: all(|scope| scope.payloads),
            actions: all(|scope| scope.actions),
        }
    }
}

impl Tab {
    /// The subtab of this name.
    pub fn subtab(&self, name: &str) -> Option<&'static Subtab> {
        self.subtabs.iter().find(|subtab| subtab.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn tools(tools: &'static [&'static str]) -> Scope {
        Scope {
            tools,
            ..Scope::NOTHING
        }
    }

    static DESK: Page = Page {
        name: "desk",
        identity: "You tidy up.",
        scope: Scope {
            payloads: &["list"],
            ..tools(&["sweep"])
        },
        tabs: &[
            Tab {
                name: "drawers",
                scope: tools(&["open", "sweep"]),
                subtabs: &[Subtab {
                    name: "left",
                    scope: tools(&["sort"]),
                }],
            },
            Tab {
                name: "top",
                scope: Scope::NOTHING,
                subtabs: &[],
            },
        ],
    };

    #[test]
    fn what_there_is_in_a_place_is_that_of_its_page_its_tab_and_its_subtab() {
        let cases: [(Option<&str>, Option<&str>, &[&str]); 6] = [
            (None, None, &["sweep"]),
            (Some("top"), None, &["sweep"]),
            (Some("drawers"), None, &["sweep", "open"]),
            (Some("drawers"), Some("left"), &["sweep", "open", "sort"]),
            (Some("top"), Some("left"), &["sweep"]),
            (None, Some("left"), &["sweep"]),
        ];
        for (tab, subtab, tools) in cases {
            let here = DESK.here(tab, subtab);
            assert_eq!(here.tools, tools, "{tab:?} {subtab:?}");
            assert_eq!((&here.payloads[..], &here.actions[..]), (&["list"][..], &[][..]));
        }
    }
}
