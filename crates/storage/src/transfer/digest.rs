//! Digests of tables: the number of their rows, and the sum of the rows' hashes, the same for every kind of database. The order does not
//! count: Postgres sorts keys with U+0000 by another form of them.

use std::{collections::BTreeMap, fmt::Write};

use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

use crate::sql::database::Value;

/// The number of a table's rows and the sum of their hashes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableDigest {
    pub rows: u64,
    /// In hexadecimal digits: the SHA-256 of each row's values (type, length and bytes) as four numbers, each summed modulo 2^64.
    pub sha256: String,
}

/// The digests of all tables, by their names.
pub type TableDigests = BTreeMap<String, TableDigest>;

/// Makes the digest of rows that come one after the other.
#[derive(Clone, Default)]
pub(super) struct Digester {
    rows: u64,
    sums: [u64; 4],
}

impl Digester {
    pub fn rows(&self) -> u64 {
        self.rows
    }

    pub fn add(&mut self, row: &[Value]) {
        self.rows += 1;
        let mut context = Context::new(&SHA256);
        for value in row {
            match value {
                Value::Integer(Some(integer)) => add_bytes(&mut context, 1, &integer.to_le_bytes()),
                Value::Text(Some(text)) => add_bytes(&mut context, 2, text.as_bytes()),
                Value::Bytes(Some(bytes)) => add_bytes(&mut context, 3, bytes),
                Value::Integer(None) | Value::Text(None) | Value::Bytes(None) | Value::List(_) => {
                    add_bytes(&mut context, 0, &[]);
                }
            }
        }
        let hash = context.finish();
        for (sum, part) in self.sums.iter_mut().zip(hash.as_ref().chunks_exact(8)) {
            let part = part.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
            *sum = sum.wrapping_add(part);
        }
    }

    pub fn finish(self) -> TableDigest {
        let mut sha256 = String::with_capacity(64);
        for sum in self.sums {
            let _ = write!(sha256, "{sum:016x}");
        }
        TableDigest {
            rows: self.rows,
            sha256,
        }
    }
}

/// Adds a value. The length tells where it ends, so that no two rows have the same bytes.
fn add_bytes(context: &mut Context, kind: u8, bytes: &[u8]) {
    context.update(&[kind]);
    context.update(&(bytes.len() as u64).to_le_bytes());
    context.update(bytes);
}
