//! Looking at the role: what it can do that a reader does not need.

use sqlx::PgConnection;

use super::{super::QueryError, session::own_error};

/// The rights of the role beyond reading, each with its name.
const RIGHTS: &str = "SELECT concat_ws(', ',
     CASE WHEN r.rolsuper THEN 'it is a superuser' END,
     CASE WHEN r.rolcreatedb THEN 'it can create databases' END,
     CASE WHEN r.rolcreaterole THEN 'it can create roles' END,
     CASE WHEN r.rolreplication THEN 'it can replicate' END,
     (SELECT 'it is a member of ' || string_agg(m.rolname, ', ') FROM pg_roles m
      WHERE m.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program',
                          'pg_signal_backend', 'pg_write_all_data')
        AND pg_has_role(current_user, m.oid, 'MEMBER') AND NOT r.rolsuper),
     (SELECT 'it can write ' || count(*) || ' tables' FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p') AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
        AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') HAVING count(*) > 0),
     (SELECT 'it can call ' || string_agg(DISTINCT p.proname, ', ') FROM pg_proc p
      WHERE p.proname IN ('dblink', 'dblink_exec', 'dblink_connect') AND has_function_privilege(p.oid, 'EXECUTE')))
     FROM pg_roles r WHERE r.rolname = current_user";

/// Returns warnings about rights that the operator should take away from the role.
pub async fn warnings(connection: &mut PgConnection) -> Result<Vec<String>, QueryError> {
    let rights: Option<String> = sqlx::query_scalar(RIGHTS)
        .fetch_optional(connection)
        .await
        .map_err(|error| own_error(&error))?
        .flatten();
    let rights = rights.filter(|rights| !rights.is_empty());
    Ok(rights
        .map(|rights| {
            format!(
                "the role of this database can do more than read: {rights}. Queries of the assistant are run in read-only \
                 transactions, but give it a role that may only read (docs/databases.md)"
            )
        })
        .into_iter()
        .collect())
}
