//! Random statements of calls in many spellings.

/// Functions with their schema and the types of their arguments: listed ones, and others of Postgres and of the tests' database.
const FUNCTIONS: &[(&str, &str, &[&str])] = &[
    ("pg_catalog", "abs", &["float8"]),
    ("pg_catalog", "lower", &["text"]),
    ("pg_catalog", "row_to_json", &["jobs"]),
    ("pg_catalog", "num_nulls", &["jobs"]),
    ("pg_catalog", "count", &["text"]),
    ("pg_catalog", "tand", &["float8"]),
    ("pg_catalog", "area", &["box"]),
    ("pg_catalog", "generate_series", &["int4", "int4"]),
    ("pg_catalog", "now", &[]),
    ("pg_catalog", "pg_sleep", &["float8"]),
    ("pg_catalog", "pg_logical_emit_message", &["bool", "text", "text"]),
    ("pg_catalog", "query_to_xml", &["text", "bool", "bool", "text"]),
    ("pg_catalog", "set_config", &["text", "text", "bool"]),
    ("pg_catalog", "pg_notify", &["text", "text"]),
    ("pg_catalog", "pg_terminate_backend", &["int4", "int8"]),
    ("pg_catalog", "nextval", &["regclass"]),
    ("pg_catalog", "lo_create", &["oid"]),
    ("public", "alarm", &["float8"]),
    ("public", "alarm", &["jobs"]),
    ("public", "total_of", &["jobs"]),
    ("public", "tand", &["text"]),
    ("public", "varying", &["int4"]),
    ("public", "by", &["int4"]),
    ("public", "over", &["int4"]),
    ("public", "materialized", &["bool"]),
    ("public", "area", &["int4", "int4"]),
    ("pay", "alarm", &["float8"]),
];
/// Texts between two tokens.
const SPACES: &[&str] = &[
    "",
    "",
    "",
    " ",
    "\n",
    "\t",
    "\x0c",
    "/**/",
    "/* ( ; ' /* x */ */",
    "--'\n",
    "--$$\r",
];
const LEAVES: &[&str] = &[
    "NULL",
    "1",
    "0.2",
    "'('",
    "t",
    "t.year",
    "$$($$",
    "$é$ ' $é$",
    "E'\\''",
    "'a'\n'b'",
    "\"t\".\"year\"",
    "\"t\"",
    "u&'a'",
    "x'1f'",
    "1e1",
    "true",
    "t.*",
    "$a$ $b$ ' $a$",
];

/// Writes a random statement, whose types fit mostly.
struct Writer<'a> {
    choices: std::slice::Iter<'a, u8>,
    sql: String,
}

impl Writer<'_> {
    /// Returns a number below the end; 0 after the last choice, so that a statement ends.
    fn choose(&mut self, end: usize) -> usize {
        let choice = self.choices.next();
        choice.map_or(0, |choice| usize::from(*choice) % end)
    }

    /// Writes one of these texts.
    fn pick(&mut self, texts: &[&str]) {
        let text = texts[self.choose(texts.len())];
        self.text(text);
    }

    fn text(&mut self, text: &str) {
        self.sql.push_str(text);
        let space = SPACES[self.choose(SPACES.len())];
        self.sql.push_str(space);
    }

    /// Writes a name in one of its spellings.
    fn name(&mut self, name: &str) {
        match self.choose(3) {
            0 => self.text(name),
            1 => self.text(&format!("\"{name}\"")),
            _ => self.text(&name.to_uppercase()),
        }
    }

    fn function(&mut self) -> &'static (&'static str, &'static str, &'static [&'static str]) {
        &FUNCTIONS[self.choose(FUNCTIONS.len())]
    }

    /// Writes a call.
    fn call(&mut self, depth: usize) {
        let (schema, name, types) = self.function();
        if *schema == "pay" || self.choose(4) == 3 {
            self.name(schema);
            self.text(".");
        }
        self.name(name);
        self.text("(");
        for (index, data_type) in types.iter().enumerate() {
            if index > 0 {
                self.text(",");
            }
            self.value(data_type, depth + 1);
        }
        self.text(")");
    }

    /// Writes a call in attribute notation.
    fn attribute(&mut self, depth: usize) {
        let (_, name, types) = self.function();
        match types.first() {
            Some(&"jobs") if self.choose(2) == 1 => self.pick(&["t", "\"t\"", "T"]),
            Some(data_type) => {
                self.text("(");
                self.value(data_type, depth + 1);
                self.text(")");
            }
            None => self.text("t"),
        }
        self.text(".");
        self.name(name);
    }

    /// Writes a value of a type.
    fn value(&mut self, data_type: &str, depth: usize) {
        match self.choose(if depth > 4 { 2 } else { 4 }) {
            0 => self.text(&format!("NULL::{data_type}")),
            1 => self.text(&format!("CAST(NULL AS {data_type})")),
            2 => {
                self.text("CASE WHEN ");
                self.expression(depth + 1);
                self.text(&format!(" IS NULL THEN NULL::{data_type} END"));
            }
            _ => {
                self.text("(");
                self.expression(depth + 1);
                self.text(&format!(")::text::{data_type}"));
            }
        }
    }

    fn expression(&mut self, depth: usize) {
        match self.choose(if depth > 4 { 2 } else { 14 }) {
            0 | 1 => self.pick(LEAVES),
            2..=4 => self.call(depth),
            5..=7 => self.attribute(depth),
            8 => {
                self.text("(");
                self.select(depth + 1);
                self.text(" LIMIT 1)");
            }
            9 => {
                self.pick(&[
                    "ROW(",
                    "concat(",
                    "(1, ",
                    "json_build_array(1, ",
                    "num_nulls(",
                    "xmlelement(name a, ",
                ]);
                self.expression(depth + 1);
                self.text(")");
            }
            10 => {
                self.pick(&[
                    "EXTRACT(year FROM ",
                    "SUBSTRING('a' FROM ",
                    "POSITION('a' IN ",
                    "TRIM(BOTH FROM ",
                    "OVERLAY('a' PLACING 'b' FROM ",
                ]);
                self.pick(&["NULL", "NULL::date", "NULL::int", "NULL::text"]);
                self.text(")");
            }
            11 => {
                self.expression(depth + 1);
                self.pick(&[
                    " IS DISTINCT FROM NULL",
                    " IS NULL",
                    "::text",
                    "::character varying(9)",
                    " IN (NULL)",
                ]);
            }
            12 => {
                self.pick(&["count(*)", "rank()", "lag(1)"]);
                self.pick(&[
                    " OVER ()",
                    " FILTER (WHERE true) OVER (ORDER BY ",
                    " OVER (PARTITION BY ",
                ]);
                self.expression(depth + 1);
                self.text(")");
            }
            _ => self.pick(&[
                "float8 '1'",
                "by (1)",
                "int4 (NULL)",
                "varchar (1) '1'",
                "numeric(6, 2) '1'",
                "interval(0) '1 s'",
            ]),
        }
    }

    fn source(&mut self, depth: usize) {
        match self.choose(if depth > 3 { 2 } else { 7 }) {
            0 | 1 => self.pick(&["jobs t", "jobs AS t", "public.jobs t", "jobs t(year, rate)"]),
            2 => {
                self.call(depth);
                self.pick(&[" t(year)", " AS t(year)", " WITH ORDINALITY t(year, rate)"]);
            }
            3 => {
                self.pick(&[
                    "jobs t JOIN LATERAL ",
                    "jobs t LEFT JOIN ",
                    "jobs t JOIN ROWS FROM ",
                ]);
                self.text("(");
                self.call(depth);
                self.pick(&[") ON true", ") x ON true", ") AS by(a) ON true"]);
            }
            4 => {
                self.text("(");
                self.select(depth + 1);
                let (_, name, _) = self.function();
                self.text(") t(year), jobs ");
                self.name(name);
                self.pick(&["", "(year, rate)"]);
            }
            5 => {
                self.text("jobs t, ");
                self.call(depth);
            }
            _ => self.pick(&[
                "jobs t TABLESAMPLE system (1)",
                "(VALUES (1, 2)) t(year, rate)",
                "pay.best t",
            ]),
        }
    }

    fn select(&mut self, depth: usize) {
        if self.choose(6) == 5 && depth < 4 {
            let (_, name, _) = self.function();
            self.text("WITH ");
            self.name(name);
            self.pick(&[
                "(year) AS (",
                "(year) AS MATERIALIZED (",
                " AS NOT MATERIALIZED (",
            ]);
            self.select(depth + 1);
            self.text(")");
        }
        self.pick(&[
            "SELECT ",
            "SELECT ALL ",
            "SELECT DISTINCT ",
            "SELECT DISTINCT ON (t.year) ",
        ]);
        self.expression(depth);
        self.pick(&["", "", " AS year", " x"]);
        self.text(" FROM ");
        self.source(depth);
        if self.choose(3) == 2 {
            self.pick(&[
                " WHERE NULL = ANY (ARRAY[",
                " ORDER BY (ARRAY[",
                " UNION ALL SELECT (ARRAY[",
            ]);
            self.expression(depth + 1);
            self.text("])");
        }
    }
}

/// Returns a statement that these choices make.
pub fn statement(choices: &[u8]) -> String {
    let mut writer = Writer {
        choices: choices.iter(),
        sql: String::new(),
    };
    writer.select(0);
    writer.sql
}
