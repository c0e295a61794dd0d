//! The authorizer: SQLite asks it about every action of a statement while preparing it.

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

/// Functions that reach outside of the query or change how others read.
const REFUSED_FUNCTIONS: [&str; 6] = [
    "load_extension",
    "fts3_tokenizer",
    "readfile",
    "writefile",
    "edit",
    "sqlite_offset",
];

/// Allows reads, and functions outside `REFUSED_FUNCTIONS`; denies all other actions, unknown ones included.
pub fn authorize_action(context: AuthContext<'_>) -> Authorization {
    match context.action {
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
pub fn authorize_catalogue(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Pragma {
            pragma_name: "table_list" | "table_xinfo" | "foreign_key_list",
            ..
        } => Authorization::Allow,
        _ => authorize_action(context),
    }
}
