//! Postgres: types, catalogue, errors, and hostile statements.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection};

use super::{hostile::statements, server, *};
use parlor_base::notices::Notices;

/// Opens the database as a role, when the server has started.
pub(super) async fn open(role: &str) -> Database {
    let database = Database::new(&server::database(role), &limits()).expect("a URL");
    for _ in 0..600 {
        if database.query("SELECT 1").await.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    database
}

#[tokio::test]
async fn values_of_all_types_are_exact() {
    let database = open("reader").await;
    let result = database
        .query("SELECT i8, f, n, b, t, ts, d, a, bin, j, m FROM kinds ORDER BY i8; -- end")
        .await
        .unwrap();
    let types: Vec<&str> = result.columns.iter().map(|column| &*column.data_type).collect();
    assert_eq!(
        types,
        [
            "int8",
            "float8",
            "numeric",
            "bool",
            "text",
            "timestamptz",
            "date",
            "int4[]",
            "bytea",
            "jsonb",
            "mood"
        ]
    );
    let first = [
        "9007199254740993",
        "NaN",
        "123456789012345678901234567890.5",
        "true",
        "é'x",
        "2024-02-29 12:00:00+00",
        "2024-02-29",
        "{1,NULL,3}",
        "\\x00ff",
        "{\"k\": [1]}",
        "sad",
    ];
    let rows = cells(&result);
    assert_eq!(rows[0], first.map(|text| Some(text.to_owned())));
    assert_eq!(
        (rows[1][1].as_deref(), rows[1][2].as_deref()),
        (Some("Infinity"), Some("NaN"))
    );
    assert!(rows[1][3..].iter().all(Option::is_none));
    assert_eq!(result.rows[0][0], Cell::Integer(9_007_199_254_740_993));
}

#[tokio::test]
async fn catalogue_has_only_tables_the_role_reads() {
    let database = open("reader").await;
    let catalogue = database.catalogue().await.unwrap();
    let names: Vec<String> = catalogue.tables().map(Table::full_name).collect();
    assert_eq!(names, ["jobs", "kinds", "pay.best"]);
    let jobs = catalogue.table("public.jobs").unwrap();
    assert_eq!(
        (&*jobs.about, &*jobs.columns[1].about),
        ("One row a year", "Percent of all")
    );
    assert_eq!(
        (jobs.columns[0].is_key, &*jobs.columns[1].data_type),
        (true, "numeric(6,2)")
    );
    let kinds = catalogue.table("kinds").unwrap();
    assert_eq!(
        kinds.column("year").unwrap().references.as_deref(),
        Some("jobs.year")
    );
    let best = catalogue.table("pay.best").unwrap();
    let values = database
        .values(best, &best.columns[0], Some("202"), 9)
        .await
        .unwrap();
    assert_eq!(cells(&values).len(), 2);
    assert_eq!(database.first_rows(best, 1).await.unwrap().rows.len(), 1);
}

#[tokio::test]
async fn errors_have_position_and_hint() {
    let database = open("reader").await;
    let message = async |sql: &str| database.query(sql).await.unwrap_err().to_string();
    let unknown = message("SELECT 'é',\n  nope FROM jobs").await;
    assert!(
        unknown.starts_with("SQL error at line 2, column 3: column \"nope\" does not exist"),
        "{unknown}"
    );
    let missing = message("SELECT * FROM job").await;
    assert!(
        missing.contains("Hint: The tables are: jobs, kinds, pay.best"),
        "{missing}"
    );
    let secret = message("SELECT * FROM secrets").await;
    assert!(secret.contains("permission denied"), "{secret}");
    let zero = message("SELECT 1 / (year - year) FROM jobs").await;
    assert!(zero.contains("division by zero"), "{zero}");
}

#[tokio::test]
async fn results_and_values_end_at_their_limits() {
    let database = open("reader").await;
    let many = database.query("SELECT generate_series(1, 20000)").await.unwrap();
    assert_eq!((many.rows.len(), many.cut_by), (10_000, Some("data.result_rows")));
    let long = database
        .query("SELECT repeat('é', 50000000) FROM jobs")
        .await
        .unwrap();
    assert_eq!((long.rows.len(), long.cut_by), (0, Some("data.result_bytes")));
}

#[tokio::test]
async fn many_rows_are_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    std::fs::write(&path, "").unwrap();
    let file = RowFile {
        path: path.clone(),
        max_cells: 100,
        max_json_bytes: 1 << 20,
        max_bytes: usize::MAX,
    };
    let query = "SELECT n, n / 10.0 AS tenth, n % 2 = 0 AS even FROM generate_series(1, 20000) AS n";
    let result = open("reader").await.query_into(query, file).await.unwrap();
    assert_eq!(
        (result.is_in_file, result.row_count, result.cut_by),
        (true, 20_000, None)
    );
    let rows = FileDatabases::new(&limits()).rows(path, 3);
    let order = Some(RowOrder {
        column: 1,
        is_numeric: result.is_numeric(1),
        is_descending: true,
    });
    let request = RowsRequest {
        count: 1,
        columns: usize::MAX,
        order,
        words: vec!["true".into()],
        ..RowsRequest::default()
    };
    let page = rows.page(request).await.unwrap();
    assert_eq!(page.found, 10_000);
    // Decimal numbers keep their digits, and booleans are words.
    let texts = ["2000.0000000000000000", "true"].map(|text| Cell::Text(text.into()));
    assert_eq!(page.rows[0], [&[Cell::Integer(20_000)][..], &texts].concat());
}

#[tokio::test]
async fn excess_rights_of_a_role_are_a_notice() {
    let texts = async |role: &str| {
        let notices = Notices::default();
        open(role).await.check(&notices).await;
        let texts = notices.all().into_iter().map(|notice| notice.text);
        texts.collect::<String>()
    };
    let boss = texts("boss").await;
    assert!(boss.contains("it is a superuser"), "{boss}");
    let writer = texts("writer").await;
    for right in [
        "it is a member of pg_read_server_files",
        "it can write 1 table",
        "it can create objects in the schemas pay",
    ] {
        assert!(writer.contains(right), "{right}: {writer}");
    }
    let reader = texts("reader").await;
    assert!(
        reader.starts_with("it can call dblink_connect, dblink_exec. "),
        "{reader}"
    );
    assert_eq!(texts("clerk").await, "");
}

#[tokio::test]
async fn printed_role_reads_within_limits() {
    let (log, _listening) = captured_log::CapturedLog::capture();
    let clerk = open("clerk").await;
    clerk.check(&Notices::default()).await;
    assert!(!log.contains("has no limit") && !log.contains("have no limit"));
    let rows = clerk.query("SELECT count(*) FROM pay.best").await.unwrap();
    assert_eq!(cells(&rows), [[Some("2".to_owned())]]);
    let spilled = clerk
        .query("SELECT max(n) FROM (SELECT n FROM generate_series(1, 400000) AS n ORDER BY n % 7777, n DESC OFFSET 1) AS x")
        .await;
    let spilled = spilled.unwrap_err().to_string();
    assert!(spilled.contains("temporary file size"), "{spilled}");
    // Without Parlor's list, the role itself may not.
    let denied = async |role: &str, call: &str| {
        let mut connection = sqlx::PgConnection::connect(&server::url(role)).await.unwrap();
        let select = format!("SELECT {call}");
        let called = sqlx::query(AssertSqlSafe(select)).execute(&mut connection).await;
        called.is_err_and(|error| error.to_string().contains("permission denied"))
    };
    for call in [
        "pg_logical_emit_message(false, 'x', 'y')",
        "pg_notify('x', 'y')",
        "pg_advisory_lock(7)",
        "pg_sleep(0)",
        "query_to_xml('SELECT 1', true, true, '')",
        "ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, ''b''::tsquery')",
        "lo_create(0)",
        "dblink_connect('x')",
    ] {
        assert!(denied("clerk", call).await, "{call}");
    }
    // The others keep it.
    assert!(!denied("reader", "pg_notify('x', 'y')").await);
}

#[tokio::test]
async fn temporary_files_are_limited_where_allowed() {
    open("boss").await;
    let limits = DataSettings {
        query_disk_bytes: 1 << 20,
        ..limits()
    };
    let boss = Database::new(&server::database("boss"), &limits).expect("a URL");
    let sql = "SELECT max(n) FROM (SELECT n FROM generate_series(1, 400000) AS n ORDER BY n % 7777, n DESC OFFSET 1) AS x";
    let error = boss.query(sql).await.unwrap_err();
    assert_eq!(error.kind, QueryErrorKind::TooLarge, "{error}");
}

#[tokio::test]
async fn calls_outside_the_list_are_refused() {
    let boss = open("boss").await;
    let statements = statements(include_str!(
        "../../../../tests/fixtures/sql/hostile-postgres-calls.txt"
    ));
    assert!(statements.len() >= 300, "{} statements", statements.len());
    let mut run = Vec::new();
    for sql in &statements {
        match boss.query(sql).await {
            Err(error) if error.kind == QueryErrorKind::Refused => {}
            // A parameter.
            Err(error) if sql.contains("$1") && error.message.contains("parameter") => {}
            other => run.push(format!("{sql}: {other:?}")),
        }
    }
    assert!(run.is_empty(), "not refused:\n{}", run.join("\n"));
}

#[tokio::test]
async fn queries_of_analysts_run() {
    let reader = open("reader").await;
    let statements = statements(include_str!(
        "../../../../tests/fixtures/sql/analyst-postgres.txt"
    ));
    assert!(statements.len() >= 60, "{} statements", statements.len());
    let mut refused = Vec::new();
    for sql in &statements {
        if let Err(error) = reader.query(sql).await {
            refused.push(format!("{sql}: {error}"));
        }
    }
    assert!(refused.is_empty(), "refused:\n{}", refused.join("\n"));
}

/// Checks the list against the server: a function that is not volatile has no effects.
#[tokio::test]
async fn listed_functions_have_no_effects() {
    const READ_STATE: [&str; 20] = [
        "array_sample",
        "array_shuffle",
        "bernoulli",
        "clock_timestamp",
        "gen_random_uuid",
        "pg_database_size",
        "pg_indexes_size",
        "pg_is_in_recovery",
        "pg_jit_available",
        "pg_partition_ancestors",
        "pg_partition_tree",
        "pg_relation_size",
        "pg_table_size",
        "pg_total_relation_size",
        "random",
        "random_normal",
        "system",
        "timeofday",
        "uuidv4",
        "uuidv7",
    ];
    let boss = open("boss").await;
    let volatile = "SELECT DISTINCT proname FROM pg_proc \
                    WHERE provolatile = 'v' AND pronamespace = 'pg_catalog'::regnamespace ORDER BY 1";
    let volatile = cells(&boss.query(volatile).await.unwrap());
    let volatile: Vec<String> = volatile.into_iter().flatten().flatten().collect();
    assert!(volatile.iter().any(|name| name == "pg_sleep"));
    let listed = crate::postgres::functions::all();
    let found: Vec<&&str> = listed
        .iter()
        .filter(|name| volatile.iter().any(|other| other == *name) && !READ_STATE.contains(*name))
        .collect();
    assert!(found.is_empty(), "{found:?}");
}

#[tokio::test]
async fn functions_of_the_settings_can_be_called() {
    open("boss").await;
    let settings = DatabaseSettings {
        functions: ["total_of", "tand", "xpath", "xmlexists", "xmltable"]
            .map(Into::into)
            .into(),
        ..server::database("boss")
    };
    let boss = Database::new(&settings, &limits()).expect("a URL");
    for sql in [
        "SELECT total_of(j), j.total_of FROM jobs AS j",
        "SELECT tand('1'::text) > 0, public.tand('1'::text) > 0",
        "SELECT xpath('/a/b/text()', '<a><b>1</b></a>'), xmlexists('/a' PASSING '<a/>')",
        "SELECT x.* FROM xmltable('/a/b' PASSING ('<a><b c=\"1\">x</b></a>'::xml) COLUMNS c int PATH '@c', d text PATH '.') AS x",
    ] {
        let result = boss.query(sql).await;
        assert!(result.is_ok(), "{sql}: {result:?}");
    }
    let refused = boss.query("SELECT alarm(1)").await.unwrap_err().to_string();
    assert!(
        refused.starts_with("The function alarm is not allowed here.")
            && refused.contains("setting databases.functions"),
        "{refused}"
    );
    let refused = boss
        .query("SELECT (year).alarm FROM jobs")
        .await
        .unwrap_err()
        .to_string();
    assert!(
        refused.starts_with("The function alarm is not allowed here.")
            && refused.contains("write the column without the table's name, or select it in a subquery"),
        "{refused}"
    );
}

#[tokio::test]
async fn types_that_sqlx_does_not_know_are_text() {
    let boss = open("boss").await;
    let sql = "SELECT int4multirange(int4range(1, 3)) AS r, ROW(1, datemultirange()) AS row, \
               ARRAY[int4multirange(int4range(1, 3))] AS \"a\"\"b\", x AS whole, ARRAY[xmlelement(name b)] AS xml, \
               NULL AS nothing, '' AS nothing, '1'::\"char\" AS c, year, (SELECT m FROM kinds LIMIT 1) AS mood \
               FROM jobs, (SELECT 1 AS n, int4multirange() AS m) AS x ORDER BY year LIMIT 1 -- end";
    let result = boss.query(sql).await.unwrap();
    let columns: Vec<(&str, &str)> = result
        .columns
        .iter()
        .map(|column| (&*column.name, &*column.data_type))
        .collect();
    assert_eq!(
        columns,
        [
            ("r", "int4multirange"),
            ("row", "record"),
            ("a\"b", "int4multirange[]"),
            ("whole", "record"),
            ("xml", "xml[]"),
            ("nothing", "text"),
            ("nothing", "text"),
            ("c", "char"),
            ("year", "int4"),
            ("mood", "mood"),
        ]
    );
    let row = [
        Some("{[1,3)}"),
        Some("(1,{})"),
        Some("{\"{[1,3)}\"}"),
        Some("(1,{})"),
        Some("{<b/>}"),
        None,
        Some(""),
        Some("1"),
        Some("2020"),
        Some("sad"),
    ];
    assert_eq!(cells(&result), [row.map(|text| text.map(str::to_owned)).to_vec()]);
    assert_eq!(result.rows[0][8], Cell::Integer(2020));
    let mistake = boss
        .query("SELECT int4multirange(), nope FROM jobs")
        .await
        .unwrap_err()
        .to_string();
    assert!(mistake.contains("line 1, column 26"), "{mistake}");
}

#[tokio::test]
async fn names_with_quotes_are_read() {
    let boss = open("boss").await;
    let catalogue = boss.catalogue().await.unwrap();
    for name in ["my \"schema.my.\"table", "\"my \"\"schema\".\"my.\"\"table\""] {
        let table = catalogue.table(name);
        let Some(table) = table.or_else(|| catalogue.table("\"my \"\"schema\".\"my.\"\"table\"")) else {
            panic!("{name}");
        };
        let rows = boss.first_rows(table, 2).await.unwrap();
        assert_eq!(cells(&rows), [[Some("{[1,2)}".to_owned())]]);
        let values = boss.values(table, &table.columns[0], Some("1"), 5).await.unwrap();
        assert_eq!(
            cells(&values),
            [[Some("{[1,2)}".to_owned()), Some("1".to_owned())]]
        );
        assert_eq!(catalogue.table(&table.full_name()), Some(table));
    }
}

#[tokio::test]
async fn postgres_survives_hostile_statements() {
    let reader = open("reader").await;
    let boss = open("boss").await;
    let database = Database::new(&server::database("reader"), &hostile_limits()).expect("a URL");
    let state = "SELECT (SELECT sum(rate) FROM jobs), (SELECT count(*) FROM kinds), \
                 (SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace), \
                 (SELECT count(*) FROM pg_roles), (SELECT last_value FROM counter), (SELECT count(*) FROM pg_database), \
                 (SELECT count(*) FROM pg_largeobject_metadata), (SELECT count(*) FROM pg_proc), \
                 (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')";
    let before = cells(&boss.query(state).await.unwrap());
    let statements = statements(include_str!(
        "../../../../tests/fixtures/sql/hostile-postgres.txt"
    ));
    assert!(statements.len() >= 120, "{} statements", statements.len());
    let mut accepted = Vec::new();
    for sql in &statements {
        let shown: String = sql.chars().take(100).collect();
        match tokio::time::timeout(Duration::from_secs(60), database.query(sql)).await {
            Ok(Ok(result)) => accepted.push(format!("{shown}: {:?}", cells(&result).first())),
            Ok(Err(error)) => assert!(
                error.kind != QueryErrorKind::Unavailable && !error.message.is_empty(),
                "{shown}: {error}"
            ),
            Err(_) => panic!("it runs too long: {shown}"),
        }
    }
    assert!(accepted.is_empty(), "not refused:\n{}", accepted.join("\n"));
    assert!(server::is_running());
    assert_eq!(cells(&boss.query(state).await.unwrap()), before);
    let mut names: Vec<_> = std::fs::read_dir(server::folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["data", "log", "password", "process"]);
    assert!(!Path::new("/tmp/stolen-by-postgres").exists());
    assert_eq!(
        cells(&reader.query("SELECT count(*) FROM jobs").await.unwrap()),
        [[Some("3".to_owned())]]
    );
}
