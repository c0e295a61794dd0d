//! The SQL that makes a role which can only read, printed by `parlor database role`.

use std::time::Duration;

use super::super::backend::quote_identifier;

/// The inputs of the SQL for a role: its name, its database, its rights and limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleRequest {
    pub role: String,
    pub database: String,
    /// The schemas that it may read.
    pub schemas: Vec<String>,
    /// True on a server of a provider, where nobody is a superuser.
    pub is_managed: bool,
    /// The longest time of a statement.
    pub timeout: Duration,
    pub max_connections: usize,
    /// The temporary files of a query, in bytes.
    pub max_disk_bytes: usize,
}

/// Functions with effects that each role may call, as long as nobody takes them away: patterns of `LIKE`.
const TAKEN_FUNCTIONS: &str = "
            'dblink%', 'pg\\_logical\\_emit\\_message', 'pg\\_notify', 'pg\\_advisory%', 'pg\\_try\\_advisory%', 'pg\\_sleep%',
            'pg\\_export\\_snapshot', 'lo\\_%', 'loread', 'lowrite', 'query\\_to\\_xml%', 'cursor\\_to\\_xml%', 'ts\\_stat', 'ts\\_rewrite',
            'crosstab%', 'connectby', 'xpath\\_table', 'xslt\\_process', 'txid\\_current', 'pg\\_current\\_xact\\_id', 'set\\_config',
            'pg\\_cancel\\_backend', 'pg\\_stat\\_reset%', 'postgres\\_fdw\\_%', 'gin\\_clean\\_pending\\_list', 'brin\\_summarize%',
            'brin\\_desummarize%'";

/// Returns SQL that makes the role, with comments about what stays open.
pub fn role_sql(request: &RoleRequest) -> String {
    let (role, database) = (
        quote_identifier(&request.role),
        quote_identifier(&request.database),
    );
    let schemas: Vec<String> = request
        .schemas
        .iter()
        .map(|name| quote_identifier(name))
        .collect();
    let schemas = schemas.join(", ");
    let RoleRequest {
        is_managed,
        timeout,
        max_connections,
        max_disk_bytes,
        ..
    } = request;
    let timeout = timeout.as_secs().max(1) + 5;
    let disk = (max_disk_bytes >> 10).max(1);
    let who = match is_managed {
        true => "the administrator of the server, who owns the tables or may grant on them,",
        false => "a superuser",
    };
    let attributes = match is_managed {
        // Only a superuser may name the others; they are the default.
        true => "NOCREATEDB NOCREATEROLE",
        false => "NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS",
    };
    let mut sql = format!(
        "-- Run this as {who} in the database {database}, then set a password (psql: \\password {role}).\n\
         CREATE ROLE {role} LOGIN {attributes} NOINHERIT CONNECTION LIMIT {max_connections};\n\
         \n\
         -- Its sessions: read-only, with limits. A session can change the first five again; Parlor sets them for each query.\n\
         ALTER ROLE {role} SET default_transaction_read_only = on;\n\
         ALTER ROLE {role} SET statement_timeout = '{timeout}s';\n\
         ALTER ROLE {role} SET lock_timeout = '2s';\n\
         ALTER ROLE {role} SET idle_in_transaction_session_timeout = '{timeout}s';\n\
         ALTER ROLE {role} SET search_path = {schemas};\n"
    );
    sql.push_str(&match is_managed {
        true => format!(
            "-- Only with a provider that allows it (from Postgres 15: GRANT SET ON PARAMETER temp_file_limit):\n\
             -- ALTER ROLE {role} SET temp_file_limit = '{disk}kB';\n"
        ),
        false => format!("ALTER ROLE {role} SET temp_file_limit = '{disk}kB';\n"),
    });
    sql.push_str(&format!(
        "\n\
         -- What it reads. Grant single tables or columns instead where not all is for the assistant.\n\
         GRANT CONNECT ON DATABASE {database} TO {role};\n\
         GRANT USAGE ON SCHEMA {schemas} TO {role};\n\
         GRANT SELECT ON ALL TABLES IN SCHEMA {schemas} TO {role};\n\
         -- Tables that you make later; repeat it as each role that makes tables.\n\
         ALTER DEFAULT PRIVILEGES IN SCHEMA {schemas} GRANT SELECT ON TABLES TO {role};\n\
         \n\
         -- What every role may do by default. This takes it from all of them: grant it again to those who need it.\n\
         REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC;\n\
         REVOKE CREATE ON SCHEMA {schemas} FROM PUBLIC;\n"
    ));
    sql.push_str(&match is_managed {
        true => "\n\
             -- What stays open, since only a superuser can take it away: the role may still call functions such as\n\
             -- pg_logical_emit_message (writes to the log of changes), pg_notify, pg_advisory_lock, pg_sleep, and\n\
             -- pg_terminate_backend (ends sessions of the same role). Parlor refuses them in queries. If the extension dblink is\n\
             -- there, drop it, or take it away: REVOKE EXECUTE ON FUNCTION … FROM PUBLIC.\n"
            .to_owned(),
        false => format!(
            "\n\
             -- Functions with effects. The other roles of today keep them; grant them to later ones that need them.\n\
             DO $take$\n\
             DECLARE f regprocedure; r name;\n\
             BEGIN\n\
             \u{20}   FOR f IN SELECT p.oid::regprocedure FROM pg_proc p\n\
             \u{20}       WHERE p.prokind = 'f' AND p.proname LIKE ANY (ARRAY[{TAKEN_FUNCTIONS}])\n\
             \u{20}         AND EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a\n\
             \u{20}                     WHERE a.grantee = 0 AND a.privilege_type = 'EXECUTE')\n\
             \u{20}   LOOP\n\
             \u{20}       FOR r IN SELECT rolname FROM pg_roles WHERE rolname <> {} AND rolname NOT LIKE 'pg\\_%' LOOP\n\
             \u{20}           EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', f, r);\n\
             \u{20}       END LOOP;\n\
             \u{20}       EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f);\n\
             \u{20}   END LOOP;\n\
             END $take$;\n",
            quote_text(&request.role)
        ),
    });
    sql.push_str(
        "\n\
         -- What stays open in any case: the catalogue of the server (names of databases, roles and tables, and the queries of\n\
         -- the same role) can be read; a query may take a processor and work_mem for the length of its timeout;\n\
         -- pg_terminate_backend, with which Parlor ends queries that nobody waits for, ends sessions of the same role, so give\n\
         -- Parlor a role of its own. Views, operators, casts and policies of yours call what you wrote into them, and functions\n\
         -- with SECURITY DEFINER run with the rights of their owner.\n",
    );
    sql
}

fn quote_text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_names() {
        let request = RoleRequest {
            role: "o'b\"r".into(),
            database: "a\"; DROP DATABASE b; --".into(),
            schemas: vec!["public".into(), "Pay \"x".into()],
            is_managed: false,
            timeout: Duration::from_secs(15),
            max_connections: 8,
            max_disk_bytes: 1 << 30,
        };
        let sql = role_sql(&request);
        for expected in [
            "CREATE ROLE \"o'b\"\"r\" LOGIN NOSUPERUSER",
            "CONNECTION LIMIT 8;",
            "ON DATABASE \"a\"\"; DROP DATABASE b; --\" TO",
            "GRANT USAGE ON SCHEMA \"public\", \"Pay \"\"x\" TO",
            "rolname <> 'o''b\"r' AND",
            "temp_file_limit = '1048576kB'",
            "statement_timeout = '20s'",
        ] {
            assert!(sql.contains(expected), "{expected}\n{sql}");
        }
        let managed = role_sql(&RoleRequest {
            is_managed: true,
            ..request
        });
        assert!(
            !managed.contains("DO $take$") && !managed.contains("NOSUPERUSER"),
            "{managed}"
        );
        assert!(
            managed.contains("What stays open, since only a superuser"),
            "{managed}"
        );
    }
}
