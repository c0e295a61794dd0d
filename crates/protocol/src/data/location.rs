//! The location on the page *Data*: its URL, which restores the same view.

use super::DataFields;
use crate::{
    PageContext,
    url_text::{decode, encode_path, encode_query},
};

/// The page's path.
pub const DATA_PATH: &str = "/data";

/// A location on the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataLocation {
    /// The words that the catalogue is searched for.
    pub query: String,
    /// The open table: the name of its database, and its own.
    pub table: Option<(String, String)>,
}

impl DataLocation {
    /// The location of a table.
    pub fn of_table(database: &str, table: &str) -> Self {
        Self {
            table: Some((database.into(), table.into())),
            ..Self::default()
        }
    }

    /// Parses a URL with its query string. Returns `None` if it is not on this page.
    pub fn parse(url: &str) -> Option<Self> {
        let (path, parameters) = url.split_once('?').unwrap_or((url, ""));
        let rest = path.strip_prefix(DATA_PATH)?.trim_end_matches('/');
        let table = match rest {
            "" => None,
            rest => {
                let (database, table) = rest.strip_prefix('/')?.split_once('/')?;
                let is_whole = !database.is_empty() && !table.is_empty() && !table.contains('/');
                Some(is_whole.then(|| (decode(database), decode(table)))?)
            }
        };
        let query = parameters
            .split('&')
            .find_map(|parameter| parameter.strip_prefix("q="));
        Some(Self {
            query: query.map(decode).unwrap_or_default(),
            table,
        })
    }

    /// The location as a URL.
    pub fn to_url(&self) -> String {
        let mut url = String::from(DATA_PATH);
        if let Some((database, table)) = &self.table {
            for part in ["/", &encode_path(database), "/", &encode_path(table)] {
                url.push_str(part);
            }
        }
        if !self.query.is_empty() {
            url.push_str("?q=");
            url.push_str(&encode_query(&self.query));
        }
        url
    }

    /// The page context of a request.
    pub fn to_page_context(&self) -> PageContext {
        let (database, table) = self.table.clone().unzip();
        let fields = DataFields {
            catalogue_query: Some(self.query.clone()).filter(|query| !query.is_empty()),
            database,
            table,
        };
        PageContext::with_fields(None, &fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_location_round_trips() {
        let searched = DataLocation {
            query: "pay & 50% ä+b".into(),
            ..DataLocation::of_table("town", "a/b c?d")
        };
        for location in [
            DataLocation::default(),
            DataLocation::of_table("a", "x.y"),
            searched,
        ] {
            assert_eq!(DataLocation::parse(&location.to_url()), Some(location));
        }
        for elsewhere in ["/", "/database", "/data/a", "/data/a/", "/data//b", "/data/a/b/c"] {
            assert_eq!(DataLocation::parse(elsewhere), None, "{elsewhere}");
        }
        assert_eq!(DataLocation::parse("/data/?x=1"), Some(DataLocation::default()));
    }
}
