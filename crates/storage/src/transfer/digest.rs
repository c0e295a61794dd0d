//! Digests of tables: the number of their rows, and a hash of the values in the order of the keys, the same for every kind of database.

use std::{collections::BTreeMap, fmt::Write};

use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

use crate::sql::database::Value;

/// The number of a table's rows and the hash of their values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableDigest {
    pub rows: u64,
    /// SHA-256 in hexadecimal digits, of each value's type, length and bytes.
    pub sha256: String,
}

/// The digests of all tables, by their names.
pub type TableDigests = BTreeMap<String, TableDigest>;

/// Makes the digest of rows that come one after the other.
#[derive(Clone)]
pub(super) struct Digester {
    rows: u64,
    context: Context,
}

impl Digester {
    pub fn new() -> Self {
        Self {
            rows: 0,
            context: Context::new(&SHA256),
        }
    }

    pub fn rows(&self) -> u64 {
        self.rows
    }

    pub fn add(&mut self, row: &[Value]) {
        self.rows += 1;
        for value in row {
            match value {
                Value::Integer(Some(integer)) => self.add_bytes(1, &integer.to_le_bytes()),
                Value::Text(Some(text)) => self.add_bytes(2, text.as_bytes()),
                Value::Bytes(Some(bytes)) => self.add_bytes(3, bytes),
                Value::Integer(None) | Value::Text(None) | Value::Bytes(None) | Value::List(_) => {
                    self.add_bytes(0, &[])
                }
            }
        }
    }

    /// The length tells where a value ends, so that no two rows have the same bytes.
    fn add_bytes(&mut self, kind: u8, bytes: &[u8]) {
        self.context.update(&[kind]);
        self.context.update(&(bytes.len() as u64).to_le_bytes());
        self.context.update(bytes);
    }

    pub fn finish(self) -> TableDigest {
        let mut sha256 = String::with_capacity(64);
        for byte in self.context.finish().as_ref() {
            let _ = write!(sha256, "{byte:02x}");
        }
        TableDigest {
            rows: self.rows,
            sha256,
        }
    }
}
