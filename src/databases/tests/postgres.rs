//! Postgres: types, catalogue, errors, and hostile statements.

use std::time::Duration;

use super::{hostile::statements, server, *};

/// Opens the database as a role, when the server has started.
async fn open(role: &str) -> Database {
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
async fn a_role_with_excess_rights_is_reported() {
    let (log, _listening) = crate::test_log::CapturedLog::capture();
    open("boss").await.check().await;
    assert!(log.contains("it is a superuser"));
    let (log, _listening) = crate::test_log::CapturedLog::capture();
    open("reader").await.check().await;
    assert!(!log.contains("can do more than read"));
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
    let statements = statements(include_str!("../../../tests/fixtures/sql/hostile-postgres.txt"));
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
    assert_eq!(names, ["data", "log", "password"]);
    assert!(!Path::new("/tmp/stolen-by-postgres").exists());
    assert_eq!(
        cells(&reader.query("SELECT count(*) FROM jobs").await.unwrap()),
        [[Some("3".to_owned())]]
    );
}
