//! The usual names of packages, which are there in each session without an import.

use serde_json::{Map, Value};

/// The names, each with the module that it stands for.
const USUAL_NAMES: [(&str, &str); 4] = [
    ("pd", "pandas"),
    ("np", "numpy"),
    ("plt", "matplotlib.pyplot"),
    ("px", "plotly.express"),
];

/// A usual name that code uses, for a reader of the code who has no such names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedName {
    pub name: &'static str,
    module: &'static str,
    /// True if the code imports it itself.
    pub is_imported: bool,
}

impl UsedName {
    /// Returns the usual names in code.
    pub fn find(code: &str) -> impl Iterator<Item = Self> {
        USUAL_NAMES.into_iter().filter_map(move |(name, module)| {
            let is_imported = code.contains(&format!(" as {name}"));
            (is_imported || is_used(code, name)).then_some(Self {
                name,
                module,
                is_imported,
            })
        })
    }

    /// Returns its import.
    pub fn import(self) -> String {
        format!("import {} as {}", self.module, self.name)
    }
}

/// Returns the names as JSON, for the first code of a session.
pub fn usual_names() -> Value {
    let names = USUAL_NAMES.map(|(name, module)| (name.to_owned(), Value::from(module)));
    Value::Object(Map::from_iter(names))
}

/// Returns true if code takes something from a name: `pd.DataFrame`, but not `other.pd.x`.
fn is_used(code: &str, name: &str) -> bool {
    let taken = format!("{name}.");
    let mut found = code.match_indices(&*taken);
    found.any(|(start, _)| {
        let before = code[..start].chars().next_back();
        before.is_none_or(|before| !(before.is_alphanumeric() || before == '_' || before == '.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_names_and_their_imports() {
        let found = |code: &str| {
            let names = UsedName::find(code);
            names
                .map(|name| (name.name, name.is_imported))
                .collect::<Vec<_>>()
        };
        assert_eq!(found("fig = px.bar(np.zeros(2))"), [("np", false), ("px", false)]);
        assert_eq!(found("import pandas as pd\npd.DataFrame()"), [("pd", true)]);
        assert_eq!(found("cpd.x; a.np.y; plt = 1; px2.z"), []);
        let first = UsedName::find("plt.plot()").next().unwrap();
        assert_eq!(first.import(), "import matplotlib.pyplot as plt");
    }
}
