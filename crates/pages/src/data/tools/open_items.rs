//! The defaults of calls that name no table or database: the open ones.

use parlor_protocol::data::DataFields;
use parlor_tools::OpenItems;

/// Sets the table of a call that names none: the open one.
pub fn complete_table(
    table: &mut String,
    database: &mut Option<String>,
    open: OpenItems<'_>,
) -> Result<(), String> {
    if table.trim().is_empty() {
        let fields: Option<DataFields> = open.on_page();
        let open = fields.and_then(|fields| Some((fields.table?, fields.database)));
        // A table of another database is not meant.
        let named = database.as_deref().filter(|name| !name.trim().is_empty());
        let open = open.filter(|(_, its)| named.is_none_or(|named| its.as_deref() == Some(named)));
        let (name, its_database) = open.ok_or("No table is open. Name one.")?;
        *table = name;
        *database = its_database;
    } else {
        complete_database(database, open);
    }
    Ok(())
}

/// Sets the database of a call that names none: that of the open table.
pub fn complete_database(database: &mut Option<String>, open: OpenItems<'_>) {
    if database.as_deref().is_none_or(|name| name.trim().is_empty()) {
        let fields: Option<DataFields> = open.on_page();
        *database = fields.and_then(|fields| fields.database);
    }
}
