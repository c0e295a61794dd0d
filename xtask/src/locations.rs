//! Clears the places in the source that a panic would name, once nothing reads them (`removePanicMessages` in
//! `optimize-wasm.mjs`). They stay in the memory's data as zeros, which Brotli compresses to nothing: 2 % of all.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};
use wasmparser::{DataKind, Operator, Parser, Payload};

/// The size of a `core::panic::Location`: the address and the length of the file's name, the line, the column.
const LOCATION_BYTES: usize = 16;

/// The limits of a location. Its file must also be a text that ends with `.rs`.
const MAX_PATH_BYTES: u32 = 200;
const MAX_LINE: u32 = 50_000;
const MAX_COLUMN: u32 = 1000;

/// A part of the memory that a file fills.
struct Segment {
    /// The index of the file.
    file: usize,
    /// Its address in the memory.
    address: u32,
    /// Its offset in the file.
    start: usize,
    bytes: usize,
}

/// Clears the locations of a page's WASM files in place. A location may name a text of another file.
pub fn clear(paths: &[PathBuf]) -> Result<()> {
    let mut files = paths.iter().map(fs::read).collect::<Result<Vec<_>, _>>()?;
    clear_in(&mut files)?;
    for (path, file) in paths.iter().zip(files) {
        fs::write(path, file).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

fn clear_in(files: &mut [Vec<u8>]) -> Result<()> {
    let mut segments = Vec::new();
    for (index, file) in files.iter().enumerate() {
        segments.extend(data_segments(index, file)?);
    }
    let mut cleared = Vec::new();
    for segment in &segments {
        let content = &files[segment.file][segment.start..segment.start + segment.bytes];
        let first = segment.address.wrapping_neg() as usize % 4;
        for at in (first..content.len().saturating_sub(LOCATION_BYTES - 1)).step_by(4) {
            if let Some(path) = path_of_location(&content[at..at + LOCATION_BYTES], &segments, files) {
                cleared.push((segment.file, segment.start + at, LOCATION_BYTES));
                cleared.push(path);
            }
        }
    }
    for (file, start, length) in cleared {
        files[file][start..start + length].fill(0);
    }
    Ok(())
}

/// Returns the place of the path that a location names, if the bytes are one: the file, the offset in it, and the length.
fn path_of_location(bytes: &[u8], segments: &[Segment], files: &[Vec<u8>]) -> Option<(usize, usize, usize)> {
    let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let (address, length, line, column) = (number(0)?, number(4)?, number(8)?, number(12)?);
    let is_possible =
        length <= MAX_PATH_BYTES && (1..=MAX_LINE).contains(&line) && (1..=MAX_COLUMN).contains(&column);
    if !is_possible {
        return None;
    }
    let length = length as usize;
    let segment = segments.iter().find(|segment| {
        address >= segment.address && (address - segment.address) as usize + length <= segment.bytes
    })?;
    let start = segment.start + (address - segment.address) as usize;
    let path = files[segment.file].get(start..start + length)?;
    path.ends_with(b".rs").then_some((segment.file, start, length))
}

fn data_segments(file: usize, wasm: &[u8]) -> Result<Vec<Segment>> {
    let mut segments = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        let Payload::DataSection(section) = payload? else {
            continue;
        };
        for data in section {
            let data = data?;
            let DataKind::Active { offset_expr, .. } = data.kind else {
                continue;
            };
            if let Operator::I32Const { value } = offset_expr.get_operators_reader().read()? {
                segments.push(Segment {
                    file,
                    address: value.cast_unsigned(),
                    start: data.range.end - data.data.len(),
                    bytes: data.data.len(),
                });
            }
        }
    }
    Ok(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with one data segment at an address.
    fn module(address: u8, data: &[u8]) -> Vec<u8> {
        let mut section = vec![1, 0, 0x41, address, 0x0b, data.len() as u8];
        section.extend(data);
        let mut wasm = b"\0asm\x01\0\0\0\x0b".to_vec();
        wasm.push(section.len() as u8);
        wasm.extend(section);
        wasm
    }

    fn location(address: u32, length: u32, line: u32) -> Vec<u8> {
        [address, length, line, 7]
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect()
    }

    #[test]
    fn clears_locations_and_their_paths_only() {
        let texts = b"src/lib.rsand a text".to_vec();
        let mut numbers = location(16, 10, 3);
        // A text that is no path, and a line that is none.
        numbers.extend(location(26, 10, 3));
        numbers.extend(location(16, 10, 0));
        let mut files = [module(16, &texts), module(40, &numbers)];
        clear_in(&mut files).unwrap();
        let cleared = [[0; 10].as_slice(), b"and a text"].concat();
        assert!(files[0].ends_with(&cleared));
        let kept = [location(26, 10, 3), location(16, 10, 0)].concat();
        assert!(files[1].ends_with(&[vec![0; LOCATION_BYTES], kept].concat()));
    }
}
