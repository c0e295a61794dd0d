//! The tabs of the settings: their addresses, names and readers.

use super::{person::Person, texts};

/// The path of the settings: the list of the tabs, beside which a wide window has the first tab.
pub const SETTINGS_PATH: &str = "/settings";

/// The people whom a tab is shown to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readers {
    Everybody,
    /// Administrators, the only user of a server without accounts, and everybody if they may add keys of their own.
    Connecting,
    /// Administrators, and the only user of a server without accounts.
    Operators,
    /// People with an account.
    Accounts,
    /// People whom Parlor has signed in.
    Sessions,
    Administrators,
    /// Administrators of a server with passwords.
    Inviting,
}

/// The origin of a tab's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// A view of the application.
    View,
    /// A page of the server with forms, which work without scripts.
    Server,
}

/// Declares the tabs in their order, with the part of the path after `/settings/`.
macro_rules! settings_tabs {
    ($($tab:ident: $name:literal $title:ident $readers:ident $content:ident,)*) => {
        /// A tab of the settings.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum SettingsTab {
            $($tab,)*
        }

        impl SettingsTab {
            /// All tabs in their order, as they are listed.
            pub const ALL: &[Self] = &[$(Self::$tab,)*];

            fn facts(self) -> (&'static str, &'static str, Readers, Content) {
                match self {
                    $(Self::$tab => ($name, texts::$title, Readers::$readers, Content::$content),)*
                }
            }
        }
    };
}

settings_tabs! {
    General: "general" GENERAL Everybody View,
    Models: "models" MODELS Connecting View,
    Memories: "memories" MEMORIES Everybody View,
    Files: "files" FILES Everybody View,
    Tokens: "tokens" TOKENS Everybody View,
    Usage: "usage" USAGE Everybody Server,
    Account: "account" ACCOUNT Accounts Server,
    Devices: "devices" DEVICES Sessions Server,
    Users: "users" USERS Administrators Server,
    Invitations: "invitations" INVITATIONS Inviting Server,
    Audit: "audit" AUDIT Administrators Server,
    System: "system" SYSTEM Operators Server,
}

impl SettingsTab {
    /// Returns the tab of a path. The server's tabs have further pages below theirs.
    pub fn parse(path: &str) -> Option<Self> {
        let rest = path.strip_prefix(SETTINGS_PATH)?;
        let Some(rest) = rest.strip_prefix('/') else {
            return rest.is_empty().then_some(Self::General);
        };
        let (name, below) = rest.split_once('/').unwrap_or((rest, ""));
        let is_named = |tab: &&Self| tab.facts().0 == name;
        let tab = *Self::ALL.iter().find(is_named)?;
        (below.is_empty() || tab.is_of_server()).then_some(tab)
    }

    /// The path of the tab.
    pub fn path(self) -> String {
        [SETTINGS_PATH, "/", self.facts().0].concat()
    }

    /// The name of the tab.
    pub fn title(self) -> &'static str {
        self.facts().1
    }

    /// Returns true if the server makes the content.
    pub fn is_of_server(self) -> bool {
        self.facts().3 == Content::Server
    }

    /// Returns true if the tab is for administrators only.
    pub fn is_of_administrators(self) -> bool {
        matches!(self.facts().2, Readers::Administrators | Readers::Inviting)
    }

    /// Returns true if the tab is listed for a person. The server checks each request by itself.
    pub fn is_listed_for(self, person: Option<&Person>) -> bool {
        match self.facts().2 {
            Readers::Everybody => true,
            Readers::Connecting => {
                person.is_none_or(|person| person.is_administrator || person.may_bring_keys)
            }
            Readers::Operators => person.is_none_or(|person| person.is_administrator),
            Readers::Accounts => person.is_some(),
            Readers::Sessions => person.is_some_and(|person| person.has_session),
            Readers::Administrators => person.is_some_and(|person| person.is_administrator),
            Readers::Inviting => person.is_some_and(|person| person.is_administrator && person.has_password),
        }
    }
}

/// Returns true for the URL of the list of tabs, which a narrow window shows without a tab.
pub fn is_list_of_tabs(url: &str) -> bool {
    let path = url.split('?').next().unwrap_or_default();
    path.trim_end_matches('/') == SETTINGS_PATH
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(person: Option<&Person>) -> Vec<&'static str> {
        let listed = SettingsTab::ALL.iter().filter(|tab| tab.is_listed_for(person));
        listed.map(|tab| tab.title()).collect()
    }

    #[test]
    fn only_administrators_see_their_tabs() {
        let ben = Person {
            name: "ben".into(),
            is_administrator: false,
            has_session: true,
            has_password: true,
            may_bring_keys: false,
        };
        let ann = Person {
            is_administrator: true,
            ..ben.clone()
        };
        let proxied = Person {
            has_session: false,
            has_password: false,
            ..ann.clone()
        };
        let of_everybody = ["General", "Memories", "Files", "API tokens", "Usage"];
        let with_models = ["General", "Models", "Memories", "Files", "API tokens", "Usage"];
        assert_eq!(titles(None), [&with_models[..], &["System"]].concat());
        let of_members = [&of_everybody[..], &["Account", "Devices"]].concat();
        assert_eq!(titles(Some(&ben)), of_members);
        let with_keys = Person {
            may_bring_keys: true,
            ..ben.clone()
        };
        let of_members = [&with_models[..], &["Account", "Devices"]].concat();
        assert_eq!(titles(Some(&with_keys)), of_members);
        let of_administrators = [
            &with_models[..],
            &[
                "Account",
                "Devices",
                "Users",
                "Invitations",
                "Audit log",
                "System",
            ],
        ]
        .concat();
        assert_eq!(titles(Some(&ann)), of_administrators);
        let behind_a_proxy = [&with_models[..], &["Account", "Users", "Audit log", "System"]].concat();
        assert_eq!(titles(Some(&proxied)), behind_a_proxy);
    }

    #[test]
    fn pages_below_a_tab_of_the_server_are_its_own() {
        for tab in SettingsTab::ALL {
            assert_eq!(SettingsTab::parse(&tab.path()), Some(*tab));
            let below = SettingsTab::parse(&[&tab.path(), "/all"].concat());
            assert_eq!(below, tab.is_of_server().then_some(*tab));
        }
        assert_eq!(SettingsTab::parse("/settings"), Some(SettingsTab::General));
        assert_eq!(SettingsTab::parse("/settingsx"), None);
    }
}
