//! The lazy views that the server may render. The browser loads their code before hydration, so each is marked: its root element has its
//! name as `data-lazy`. Views of a [page](crate::pages) are marked with the page's name instead.

/// Declares the views with their names.
macro_rules! lazy_parts {
    ($($part:ident = $name:literal,)*) => {
        /// A lazy view that the server may render.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum LazyPart {
            $($part,)*
        }

        impl LazyPart {
            /// All, in the order in which they are loaded.
            pub const ALL: &[Self] = &[$(Self::$part,)*];

            /// Returns the value of `data-lazy`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$part => $name,)*
                }
            }
        }
    };
}

lazy_parts! {
    NotFound = "not_found",
    Settings = "settings",
    Shared = "shared",
    Markdown = "markdown",
    Tool = "tool",
    Image = "image",
    Colours = "colours",
    Payload = "payload",
    Suggestions = "suggestions",
    Queue = "queue",
    Sources = "sources",
    Tray = "tray",
}
