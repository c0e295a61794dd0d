//! The identity of a page, which the server and the browser share.

/// A page: a part of the application with an address of its own.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct PageInfo {
    /// The name in requests, such as `literature`. It is also the id of the page's root element in the browser.
    pub name: &'static str,
    /// The path of the page's addresses. Those below it belong to the page too.
    pub path: &'static str,
    /// The name for the person.
    pub title: &'static str,
    /// True if the chat stands in a tray beside the page.
    pub has_tray: bool,
}

impl PageInfo {
    /// Returns true if an address, without its query, belongs to the page.
    pub fn has_path(&self, path: &str) -> bool {
        let rest = path.strip_prefix(self.path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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
