//! The identity of a page, which the server and the browser share.

/// A page: a part of the application with a URL of its own.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct PageInfo {
    /// The name in requests, such as `literature`. It is also the id of the page's main element in the browser.
    pub name: &'static str,
    /// The path of the page's URLs. Those below it belong to the page too.
    pub path: &'static str,
    /// The name for the user.
    pub title: &'static str,
    /// True if the chat is shown in a tray next to the page.
    pub has_tray: bool,
}

impl PageInfo {
    /// Returns true if a URL, without its query, belongs to the page.
    pub fn has_path(&self, path: &str) -> bool {
        let rest = path.strip_prefix(self.path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns true if a URL is the page's own, and not one below it.
    pub fn is_at(&self, url: &str) -> bool {
        let path = url.split('?').next().unwrap_or_default();
        path.trim_end_matches('/') == self.path
    }
}

#[cfg(test)]
mod tests {
    use super::PageInfo;

    #[test]
    fn page_has_paths_below_its_own() {
        let page = PageInfo {
            name: "desk",
            path: "/desk",
            title: "Desk",
            has_tray: true,
        };
        for (path, is_of_page) in [
            ("/desk", true),
            ("/desk/", true),
            ("/desk/drawers/1", true),
            ("/deskx", false),
            ("/", false),
        ] {
            assert_eq!(page.has_path(path), is_of_page, "{path}");
        }
    }
}
