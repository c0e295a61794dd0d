//! Files that are made to exhaust a reader: the server lives on, its memory does not grow, and the file is kept for its user.

use std::fmt::Write;

use flate2::{Compress, Compression, Crc, FlushCompress};
use serde_json::Value;
use upstream::Upstream;

use crate::Server;

/// The settings of the server: a reader that takes longer has found a bomb.
const SETTINGS: &str = "[files]\nreader_timeout = \"5s\"\nmax_pixels = 1000000\n";

/// The additional memory of the server, in bytes.
const MAX_ADDITIONAL_BYTES: u64 = 32 << 20;

/// The size of what a compressed bomb becomes, in blocks of a MiB.
const BLOCKS: usize = 8192;

/// A file of an archive, as it is stored.
struct StoredPart {
    data: Vec<u8>,
    /// The checksum and the size of what it becomes, if it is compressed.
    inflated: Option<(u32, u32)>,
}

/// Returns a part that is a text before and after many blocks of spaces. Only of a harmless one are checksum and size
/// true.
fn deflated_part(before: &str, after: &str, blocks: usize) -> StoredPart {
    let mut crc = Crc::new();
    let size = match blocks {
        BLOCKS => u32::MAX - 1,
        _ => {
            let whole = [before, &" ".repeat(blocks << 20), after].concat();
            crc.update(whole.as_bytes());
            u32::try_from(whole.len()).unwrap()
        }
    };
    StoredPart {
        data: deflate_bomb(before, after, blocks, false),
        inflated: Some((crc.sum(), size)),
    }
}

fn stored_text(text: &str) -> StoredPart {
    StoredPart {
        data: text.as_bytes().to_vec(),
        inflated: None,
    }
}

/// Returns a Deflate stream of a text before and after many blocks of spaces.
fn deflate_bomb(before: &str, after: &str, blocks: usize, zlib: bool) -> Vec<u8> {
    let compress = |data: &[u8], flush| {
        let mut compressor = Compress::new(Compression::best(), false);
        let mut out = Vec::with_capacity(data.len() + 1024);
        compressor.compress_vec(data, &mut out, flush).unwrap();
        out
    };
    let block = compress(&vec![b' '; 1 << 20], FlushCompress::Full);
    let mut stream = if zlib { vec![0x78, 0x9C] } else { Vec::new() };
    stream.extend(compress(before.as_bytes(), FlushCompress::Full));
    for _ in 0..blocks {
        stream.extend(&block);
    }
    stream.extend(compress(after.as_bytes(), FlushCompress::Finish));
    stream
}

/// Returns an archive of files.
fn archive(files: &[(&str, StoredPart)]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, StoredPart { data, inflated }) in files {
        let mut crc = Crc::new();
        crc.update(data);
        let size = u32::try_from(data.len()).unwrap();
        let (sum, inflated_size) = inflated.unwrap_or((crc.sum(), size));
        let mut header = Vec::new();
        header.extend([20, 0, 0, 0]);
        header.extend(if inflated.is_some() { [8, 0] } else { [0, 0] });
        header.extend([0; 4]);
        header.extend(sum.to_le_bytes());
        header.extend(size.to_le_bytes());
        header.extend(inflated_size.to_le_bytes());
        header.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        header.extend([0, 0]);
        let offset = u32::try_from(out.len()).unwrap();
        out.extend(b"PK\x03\x04");
        out.extend(&header);
        out.extend(name.as_bytes());
        out.extend(data);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(&header);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let start = u32::try_from(out.len()).unwrap();
    let count = u16::try_from(files.len()).unwrap().to_le_bytes();
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([count, count].concat());
    out.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}

/// Returns a workbook with this part.
fn workbook(part: &str, bomb: StoredPart) -> Vec<u8> {
    let sheet = "<worksheet><sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c></row></sheetData></worksheet>";
    let mut files = vec![
        ("[Content_Types].xml", stored_text("<Types/>")),
        (
            "_rels/.rels",
            stored_text(
                "<Relationships><Relationship Id=\"r1\" \
                 Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" \
                 Target=\"xl/workbook.xml\"/></Relationships>",
            ),
        ),
        (
            "xl/workbook.xml",
            stored_text(
                "<workbook xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheets>\
                 <sheet name=\"A\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>",
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            stored_text(
                "<Relationships><Relationship Id=\"r1\" \
                 Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet\" \
                 Target=\"worksheets/sheet1.xml\"/></Relationships>",
            ),
        ),
    ];
    if part != "xl/worksheets/sheet1.xml" {
        files.push(("xl/worksheets/sheet1.xml", stored_text(sheet)));
    }
    files.push((part, bomb));
    archive(&files)
}

/// Returns a PDF file of these objects, the first of which is its catalog. `prev` is where its earlier table is.
fn pdf(objects: &[Vec<u8>], prev: Option<usize>) -> Vec<u8> {
    let mut out = b"%PDF-1.7\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (index, object) in objects.iter().enumerate() {
        let _ = writeln!(table, "{:010} 00000 n ", out.len());
        out.extend(format!("{} 0 obj\n", index + 1).as_bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let start = out.len();
    let prev = prev.map_or(String::new(), |_| format!("/Prev {start}"));
    out.extend(table.as_bytes());
    out.extend(
        format!(
            "trailer\n<</Size {}/Root 1 0 R{prev}>>\nstartxref\n{start}\n%%EOF\n",
            objects.len() + 1
        )
        .as_bytes(),
    );
    out
}

/// Returns a PDF file with a page of this content, whose resources have the content as a form too.
fn pdf_page(content: &[u8], filter: &str) -> Vec<u8> {
    let object = |text: &str| text.as_bytes().to_vec();
    let stream = [
        format!(
            "<</Length {}{filter}/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources 5 0 R>>\nstream\n",
            content.len()
        )
        .as_bytes(),
        content,
        b"\nendstream",
    ]
    .concat();
    pdf(
        &[
            object("<</Type/Catalog/Pages 2 0 R>>"),
            object("<</Type/Pages/Count 1/Kids[3 0 R]>>"),
            object("<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources 5 0 R>>"),
            stream,
            object("<</XObject<</X 4 0 R>>/Font<</F 6 0 R>>>>"),
            object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"),
        ],
        None,
    )
}

/// Returns the files that grow when they are read, with this size of what they become.
fn growing_files(blocks: usize) -> Vec<(&'static str, Vec<u8>)> {
    let part = |before: &str, after: &str| deflated_part(before, after, blocks);
    vec![
        (
            "rows.xlsx",
            workbook(
                "xl/worksheets/sheet1.xml",
                part(
                    "<worksheet><sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c></row>",
                    "</sheetData></worksheet>",
                ),
            ),
        ),
        (
            "strings.xlsx",
            workbook("xl/sharedStrings.xml", part("<sst><si><t>", "</t></si></sst>")),
        ),
        (
            "text.docx",
            archive(&[(
                "word/document.xml",
                part("<w:document><w:p><w:t>Words", "</w:t></w:p></w:document>"),
            )]),
        ),
        (
            "content.pdf",
            pdf_page(
                &deflate_bomb("BT /F 9 Tf (Words) Tj ET q ", " Q", blocks, true),
                "/Filter/FlateDecode",
            ),
        ),
    ]
}

/// Returns files whose structure has no end.
fn endless_files() -> Vec<(&'static str, Vec<u8>)> {
    let object = |text: &str| text.as_bytes().to_vec();
    let deep = [b"[".repeat(1 << 20), b"]".repeat(1 << 20)].concat();
    let page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>";
    vec![
        ("forms.pdf", pdf_page(b"/X Do /X Do /X Do /X Do", "")),
        (
            "deep.pdf",
            pdf(
                &[
                    object("<</Type/Catalog/Pages 2 0 R>>"),
                    object("<</Type/Pages/Count 1/Kids[3 0 R]>>"),
                    object(&page.replace("/MediaBox", "/Annots 4 0 R/Contents 4 0 R/MediaBox")),
                    deep,
                ],
                None,
            ),
        ),
        (
            "circle.pdf",
            pdf(
                &[
                    object("<</Type/Catalog/Pages 2 0 R>>"),
                    object("<</Type/Pages/Parent 2 0 R/Count 1000000/Kids[2 0 R 2 0 R 2 0 R]>>"),
                ],
                None,
            ),
        ),
        (
            "loop.pdf",
            pdf(
                &[
                    object("<</Type/Catalog/Pages 2 0 R>>"),
                    object("<</Type/Pages/Count 1/Kids[3 0 R]>>"),
                    object(page),
                ],
                Some(0),
            ),
        ),
    ]
}

async fn upload(server: &Server, name: &str, data: Vec<u8>) -> (u16, Value) {
    let url = format!("{}/api/files?name={name}", server.url);
    let response = reqwest::Client::new().post(url).body(data).send().await.unwrap();
    let status = response.status().as_u16();
    (
        status,
        serde_json::from_slice(&response.bytes().await.unwrap()).unwrap(),
    )
}

#[tokio::test]
async fn bombs_end_only_their_reader() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("Leptos.toml"), SETTINGS).unwrap();
    let upstream = Upstream::start().await;
    let server = Server::start(folder.path(), &upstream).await;
    let pid = server.child.id().unwrap();
    upload(&server, "a.csv", b"a,b\n1,2\n".to_vec()).await;
    let before = peak_memory(pid);
    // Files of the same form are read if they do not grow: it is a limit that ends the others.
    for (name, data) in growing_files(1) {
        let (status, file) = upload(&server, name, data).await;
        assert_eq!((status, file["problem"].is_null()), (201, true), "{name}: {file}");
    }
    let growing = growing_files(BLOCKS).into_iter().map(|file| (file, true));
    let endless = endless_files().into_iter().map(|file| (file, false));
    for ((name, data), is_too_large) in growing.chain(endless) {
        let size = data.len();
        let (status, file) = upload(&server, name, data).await;
        assert_eq!((status, &file["bytes"]), (201, &size.into()), "{name}: {file}");
        assert!(
            file["problem"].is_string() && file["text_bytes"].is_null(),
            "{name}: {file}"
        );
        println!("{name}: {}", file["problem"]);
        assert!(
            !is_too_large || file["problem"] == "too_complex",
            "{name}: {file}"
        );
        let url = format!("{}/api/files/{}", server.url, file["id"].as_str().unwrap());
        let own = reqwest::get(url).await.unwrap().bytes().await.unwrap();
        assert_eq!(own.len(), size, "{name}");
    }
    // A valid image but for its pixels.
    let mut png = Vec::new();
    image::DynamicImage::new_luma8(9, 9)
        .write_to(&mut std::io::Cursor::new(&mut png), image::ImageFormat::Png)
        .unwrap();
    png[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    let mut crc = Crc::new();
    crc.update(&png[12..29]);
    png[29..33].copy_from_slice(&crc.sum().to_be_bytes());
    let (status, problem) = upload(&server, "pixels.png", png).await;
    assert_eq!(
        (status, &problem["code"]),
        (413, &"too_large".into()),
        "{problem}"
    );
    let additional = peak_memory(pid) - before;
    assert!(additional < MAX_ADDITIONAL_BYTES, "{additional}");
    let health = reqwest::get(format!("{}/healthz", server.url)).await.unwrap();
    assert_eq!(health.status(), 200);
    server.kill().await;
}

/// Returns the largest resident memory of a process so far, in bytes.
fn peak_memory(pid: u32) -> u64 {
    memory(pid, "VmHWM:")
}

/// Returns the resident memory of a process, in bytes.
pub(crate) fn resident_memory(pid: u32) -> u64 {
    memory(pid, "VmRSS:")
}

fn memory(pid: u32, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes << 10
}
