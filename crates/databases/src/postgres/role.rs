//! Looking at the role: what it can do that a reader does not need, and which limits it lacks.

use sqlx::PgConnection;

use super::{
    super::{QueryError, backend::DatabaseReport},
    session::own_error,
};

/// The rights of the role beyond reading, each as a sentence, and missing limits.
const REPORT: &str = "SELECT array_remove(ARRAY[
     CASE WHEN r.rolsuper THEN 'it is a superuser' END,
     CASE WHEN r.rolcreatedb THEN 'it can create databases' END,
     CASE WHEN r.rolcreaterole THEN 'it can create roles' END,
     CASE WHEN r.rolreplication THEN 'it can replicate' END,
     CASE WHEN r.rolbypassrls THEN 'row-level security does not apply to it' END,
     (SELECT 'it is a member of ' || string_agg(m.rolname, ', ' ORDER BY m.rolname) FROM pg_roles m
      WHERE m.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program', 'pg_signal_backend',
                          'pg_write_all_data', 'pg_checkpoint', 'pg_maintain', 'pg_create_subscription', 'pg_database_owner',
                          'rds_superuser', 'cloudsqlsuperuser', 'azure_pg_admin')
        AND pg_has_role(current_user, m.oid, 'MEMBER') AND NOT r.rolsuper),
     (SELECT 'it can write ' || count(*) || CASE count(*) WHEN 1 THEN ' table' ELSE ' tables' END FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p', 'v', 'f') AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
        AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') HAVING count(*) > 0),
     (SELECT 'it owns ' || string_agg(o.name, ', ' ORDER BY o.name) FROM (
          SELECT c.relname::text AS name FROM pg_class c WHERE c.relowner = r.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
          UNION ALL SELECT p.proname::text FROM pg_proc p WHERE p.proowner = r.oid LIMIT 10) AS o WHERE NOT r.rolsuper),
     (SELECT 'it can create objects in the schemas ' || string_agg(n.nspname, ', ' ORDER BY n.nspname) FROM pg_namespace n
      WHERE n.nspname NOT LIKE 'pg\\_%' AND has_schema_privilege(n.oid, 'CREATE') AND NOT r.rolsuper),
     CASE WHEN has_database_privilege(current_database(), 'CREATE') AND NOT r.rolsuper THEN 'it can create schemas' END,
     (SELECT 'it can call ' || string_agg(DISTINCT p.proname, ', ') FROM pg_proc p
      WHERE p.proname IN ('dblink', 'dblink_exec', 'dblink_connect', 'dblink_send_query', 'lo_import', 'lo_export', 'pg_read_file',
                          'pg_read_binary_file', 'pg_ls_dir', 'xslt_process', 'pg_file_write')
        AND has_function_privilege(p.oid, 'EXECUTE') AND has_schema_privilege(p.pronamespace, 'USAGE') AND NOT r.rolsuper),
     (SELECT 'it can use the servers ' || string_agg(s.srvname, ', ' ORDER BY s.srvname) FROM pg_foreign_server s
      WHERE has_server_privilege(s.oid, 'USAGE') AND NOT r.rolsuper)], NULL),
     array_remove(ARRAY[
     CASE WHEN current_setting('temp_file_limit') = '-1'
          THEN 'the temporary files of a query have no limit on the server (temp_file_limit)' END,
     CASE WHEN r.rolconnlimit < 0 THEN 'the connections of the role have no limit (CONNECTION LIMIT)' END,
     (SELECT 'the role can call functions that run with the rights of their owner: '
             || string_agg(d.name, ', ' ORDER BY d.name) FROM (
          SELECT DISTINCT p.proname::text AS name FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
          WHERE p.prosecdef AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND p.proowner <> r.oid
            AND has_function_privilege(p.oid, 'EXECUTE') AND has_schema_privilege(n.oid, 'USAGE') LIMIT 10) AS d)], NULL)
     FROM pg_roles r WHERE r.rolname = current_user";

/// Returns the rights that the operator should take away from the role, and the limits that it should have.
pub async fn report(connection: &mut PgConnection) -> Result<DatabaseReport, QueryError> {
    let found: Option<(Vec<String>, Vec<String>)> = sqlx::query_as(REPORT)
        .fetch_optional(connection)
        .await
        .map_err(|error| own_error(&error))?;
    let (dangers, advice) = found.unwrap_or_default();
    let advice = advice
        .into_iter()
        .map(|text| format!("{text}: `parlor database role` prints the SQL for it (docs/databases.md)"));
    Ok(DatabaseReport {
        dangers,
        advice: advice.collect(),
    })
}
