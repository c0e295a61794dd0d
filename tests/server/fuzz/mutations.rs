//! Mutations of valid requests.

use std::fmt;

use bytes::Bytes;
use fastrand::Rng;
use reqwest::{
    Method,
    header::{HeaderName, HeaderValue},
};
use serde_json::{Value, json};

use super::targets::{Ids, Target, form_encode};
use crate::support::Parlor;

/// A request to send.
pub struct MutatedRequest {
    method: String,
    url: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

/// The maximum size of a body that a failure shows, in bytes.
const MAX_SHOWN_BYTES: usize = 2000;

impl fmt::Display for MutatedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url: String = self.url.chars().take(MAX_SHOWN_BYTES).collect();
        writeln!(f, "{} {url}", self.method)?;
        for (name, value) in &self.headers {
            writeln!(f, "{name}: {}", value.escape_ascii())?;
        }
        let shown = &self.body[..self.body.len().min(MAX_SHOWN_BYTES)];
        write!(f, "\n{} ({} bytes)", shown.escape_ascii(), self.body.len())
    }
}

impl MutatedRequest {
    /// Returns a damaged request; one in eight stays valid.
    pub fn mutate(target: &Target, ids: &Ids, random: &mut Rng) -> Self {
        let mut method = target.method.clone();
        let mut arguments = target.arguments.clone().unwrap_or(Value::Null);
        ids.fill(&mut arguments);
        let mut headers = Vec::new();
        let damages = if random.u8(..8) == 0 {
            0
        } else {
            random.usize(1..4)
        };
        let mut raw = false;
        let mut url_damaged = false;
        for _ in 0..damages {
            match random.u8(..10) {
                0 => method = pick(random, &METHODS).into(),
                1 | 2 => headers.push(random_header(ids, random)),
                3 => url_damaged = true,
                4 => raw = true,
                _ => mutate_value(&mut arguments, ids, random),
            }
        }
        let by_query = target.method == "GET";
        let mut url = Target {
            arguments: by_query.then_some(arguments.clone()).filter(Value::is_object),
            ..target.clone()
        }
        .url(ids);
        if url_damaged {
            url = mutate_url(&url, ids, random);
        }
        let mut body = match (by_query, target.is_form) {
            (true, _) => Vec::new(),
            (false, true) => form_encode(&arguments).into_bytes(),
            (false, false) => arguments.to_string().into_bytes(),
        };
        if raw {
            body = mutate_bytes(body, random);
        }
        let kind = if target.is_form {
            "application/x-www-form-urlencoded"
        } else {
            "application/json"
        };
        // One of the headers above may replace it, or be sent in addition.
        headers.push(("content-type".into(), kind.into()));
        Self {
            method,
            url,
            headers,
            body,
        }
    }

    /// Sends it, and reads the response unless it is endless. Returns its status.
    pub async fn send(&self, parlor: &Parlor) -> reqwest::Result<u16> {
        Ok(self.fetch(parlor).await?.0)
    }

    /// As [`send`](Self::send). Returns the body too, which is empty for streams.
    pub async fn fetch(&self, parlor: &Parlor) -> reqwest::Result<(u16, Bytes)> {
        let method = Method::from_bytes(self.method.as_bytes()).expect("a method");
        let url = format!("{}{}", parlor.url, self.url);
        let mut request = parlor.client.request(method, url).body(self.body.clone());
        for (name, value) in &self.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a header");
            request = request.header(name, HeaderValue::from_bytes(value).expect("a value"));
        }
        let response = request.send().await?;
        let status = response.status().as_u16();
        let kind = response.headers().get("content-type");
        let is_endless = kind.is_some_and(|kind| kind == "text/event-stream");
        let body = if is_endless {
            Bytes::new()
        } else {
            response.bytes().await?
        };
        Ok((status, body))
    }

    /// Returns true if this request may fail with this error of the connection. The server may close the
    /// connection of a client that sends more than the limit, or a long body where none is read: the response
    /// then is cut. A URL can also be too long to send.
    pub fn may_fail_with(&self, error: &reqwest::Error) -> bool {
        let is_cut = error.is_decode() && self.body.len() > MAX_UNREAD_BODY_BYTES;
        error.is_request() || error.is_builder() || is_cut
    }
}

fn pick<T: Copy>(random: &mut Rng, all: &[T]) -> T {
    all[random.usize(..all.len())]
}

/// The server reads this much of a body with its head. If more is unread when it closes the connection, the end of a long response
/// may be lost.
const MAX_UNREAD_BODY_BYTES: usize = 4 << 10;

const METHODS: [&str; 10] = [
    "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PURGE", "get",
];

/// Texts that break unprepared code.
const HOSTILE_TEXTS: [&str; 20] = [
    "",
    " ",
    "\0",
    "a\0b",
    "null",
    "NaN",
    "-0",
    "1e999",
    "%00%FF",
    "../../etc/passwd",
    "' OR 1=1 --",
    "<script>alert(1)</script>",
    "\u{202e}\u{200b}\u{feff}",
    "\u{1f469}\u{200d}\u{1f4bb}漢字é",
    "\u{2028}\u{2029}\r\n\t",
    "[[tool:0]]",
    "{\"a\":",
    "test/",
    "/",
    "literature",
];

fn hostile_value(ids: &Ids, random: &mut Rng) -> Value {
    match random.u8(..16) {
        0 => Value::Null,
        1 => json!(random.bool()),
        2 => json!(-1),
        3 => json!(u64::MAX),
        4 => json!(i64::MIN),
        5 => json!(1e308),
        6 => json!(0.1),
        7 => json!([]),
        8 => json!({}),
        9 => nested_value(random.usize(1..120)),
        10 => json!("x".repeat(random.usize(1..70_000))),
        11 => json!("é\0".repeat(random.usize(1..3000))),
        12 => json!([ids.random(random), ids.random(random), null]),
        13 => json!({ "intent": {}, "type": "text", "id": ids.random(random) }),
        14 => json!(ids.random(random)),
        _ => json!(pick(random, &HOSTILE_TEXTS)),
    }
}

fn nested_value(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, level| {
        if level % 2 == 0 {
            json!([inner])
        } else {
            json!({ "a": inner })
        }
    })
}

/// Damages one part of a value.
fn mutate_value(value: &mut Value, ids: &Ids, random: &mut Rng) {
    let deeper = random.u8(..4) != 0;
    match value {
        Value::Object(fields) if deeper && !fields.is_empty() => {
            let name = fields
                .keys()
                .nth(random.usize(..fields.len()))
                .cloned()
                .expect("a field");
            match random.u8(..6) {
                0 => {
                    fields.remove(&name);
                }
                1 => {
                    fields.insert(pick(random, &HOSTILE_TEXTS).into(), hostile_value(ids, random));
                }
                _ => mutate_value(&mut fields[&name], ids, random),
            }
        }
        Value::Array(values) if deeper && !values.is_empty() => {
            let index = random.usize(..values.len());
            if random.bool() {
                let again = values[index].clone();
                values.extend(std::iter::repeat_n(again, random.usize(1..2000)));
            } else {
                mutate_value(&mut values[index], ids, random);
            }
        }
        value => *value = hostile_value(ids, random),
    }
}

fn mutate_bytes(mut body: Vec<u8>, random: &mut Rng) -> Vec<u8> {
    let at = random.usize(..=body.len());
    match random.u8(..9) {
        0 => body.truncate(at),
        1 => body.insert(at, random.u8(..)),
        2 => drop(body.splice(at..at, *b"\xff\xfe")),
        3 => drop(body.splice(0..0, *b"\xef\xbb\xbf")),
        4 => body = "[".repeat(100_000).into_bytes(),
        5 => body = format!("{{{}1}}", "\"a\":{".repeat(20_000)).into_bytes(),
        6 => body = [&body[..], &body[..]].concat(),
        7 => body = vec![b'9'; random.usize(1..400_000)],
        _ => body = vec![0; random.usize(1..400_000)],
    }
    body
}

fn mutate_url(url: &str, ids: &Ids, random: &mut Rng) -> String {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
    let last = parts.len() - 1;
    let place = random.usize(1..=last.max(1)).min(last);
    match random.u8(..8) {
        0 => parts[place] = "%00".into(),
        1 => parts[place] = "%FF%FE".into(),
        2 => parts[place] = "..%2F..".into(),
        3 => parts[place] = "9".repeat(random.usize(1..6000)),
        4 => parts[place] = ids.random(random),
        5 => parts.push(String::new()),
        6 => parts[place] = "%E2%80%AE%zz%".into(),
        _ => return format!("{path}?{query}&after=%FF&limit=-1&before=é&a[b][c]=1&=&;&%"),
    }
    format!("{}?{query}", parts.join("/"))
}

fn random_header(ids: &Ids, random: &mut Rng) -> (String, Vec<u8>) {
    let values: [(&str, &[u8]); 26] = [
        ("content-type", b"text/plain"),
        ("content-type", b"application/json; charset=utf-16"),
        ("content-type", b"multipart/form-data"),
        ("content-type", b"\xff"),
        ("accept", b"text/html"),
        ("accept", b"\xff/*;q=x"),
        ("accept-encoding", b"br;q=2, gzip;q=-1, \xff"),
        ("content-encoding", b"gzip"),
        ("content-encoding", b"br, \xff"),
        ("origin", b"null"),
        ("origin", b"http://127.0.0.1"),
        ("sec-fetch-site", b"\xff"),
        ("host", b"evil.example"),
        ("host", b"[::1"),
        ("authorization", b"Bearer parlor_"),
        ("authorization", b"Basic \xff"),
        ("idempotency-key", b"\xc3\xa9"),
        ("idempotency-key", b"7"),
        ("last-event-id", b"\xc3\xa9"),
        ("last-event-id", b"18446744073709551616"),
        ("range", b"bytes=5-2,-,x"),
        ("if-none-match", b"\xff, *"),
        ("expect", b"100-continue"),
        ("referer", b"http://evil.example/\xff"),
        ("upgrade", b"websocket"),
        ("transfer-encoding", b"gzip"),
    ];
    let (name, value) = pick(random, &values);
    if name == "idempotency-key" && random.bool() {
        return (name.into(), ids.random(random).into_bytes());
    }
    if random.u8(..8) == 0 {
        return (name.into(), vec![b'x'; random.usize(1..9000)]);
    }
    (name.into(), value.to_vec())
}
