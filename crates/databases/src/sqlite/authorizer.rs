//! The authorizer: SQLite asks it about every action of a statement while preparing it.
//!
//! A virtual table (FTS5, R*Tree) prepares statements of its own about its shadow tables, some of which would write, as soon as it is
//! read. They are allowed, and can't do anything: the file is open for reading only, and a query that is itself such a statement is
//! refused since it is not one that reads.

use std::collections::HashSet;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

/// Functions that reach outside of the query or change how others read.
const REFUSED_FUNCTIONS: [&str; 8] = [
    "load_extension",
    "fts3_tokenizer",
    "readfile",
    "writefile",
    "edit",
    "sqlite_offset",
    // They write, or try to.
    "optimize",
    "rtreecheck",
];

/// Allows reads, functions outside `REFUSED_FUNCTIONS`, and what virtual tables do with their shadow tables, whose names are in lower
/// case; denies all other actions, unknown ones included.
pub fn authorize_action(context: AuthContext<'_>, shadow_tables: &HashSet<String>) -> Authorization {
    let allow_shadow = |table: &str| match shadow_tables.contains(&table.to_lowercase()) {
        true => Authorization::Allow,
        false => Authorization::Deny,
    };
    match context.action {
        AuthAction::Insert { table_name }
        | AuthAction::Delete { table_name }
        | AuthAction::Update { table_name, .. } => allow_shadow(table_name),
        // FTS5 reads the first, FTS3 the second.
        AuthAction::Pragma {
            pragma_name: "data_version" | "page_size",
            pragma_value: None,
        } if !shadow_tables.is_empty() => Authorization::Allow,
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Function { function_name } => {
            let is_refused = REFUSED_FUNCTIONS
                .iter()
                .any(|name| name.eq_ignore_ascii_case(function_name));
            if is_refused {
                Authorization::Deny
            } else {
                Authorization::Allow
            }
        }
        _ => Authorization::Deny,
    }
}

/// Allows in addition the pragmas that describe tables, for Parlor's own queries.
pub fn authorize_catalogue(context: AuthContext<'_>, shadow_tables: &HashSet<String>) -> Authorization {
    match context.action {
        AuthAction::Pragma {
            pragma_name: "table_list" | "table_xinfo" | "foreign_key_list",
            ..
        } => Authorization::Allow,
        _ => authorize_action(context, shadow_tables),
    }
}
