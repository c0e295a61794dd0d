//! The slides of a presentation in their order.

use std::{
    collections::HashMap,
    io::{BufReader, Read},
};

use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};

use super::office::Archive;

/// The list of the slides, by their relationships.
const PRESENTATION: &str = "ppt/presentation.xml";

/// The parts behind the relationships.
const RELATIONSHIPS: &str = "ppt/_rels/presentation.xml.rels";

/// The beginning of the names of slides.
const SLIDE_PREFIX: &str = "ppt/slides/slide";

/// The maximum number of elements that are read from a list.
const MAX_ENTRIES: usize = 20_000;

/// Returns the names of the slides in their order. A name may be that of a missing one, so that the others keep their numbers.
pub fn slide_names(archive: &mut Archive) -> Vec<String> {
    let listed = listed_slides(archive).unwrap_or_default();
    match listed.iter().any(|name| archive.index_for_name(name).is_some()) {
        true => listed,
        false => existing_slides(archive),
    }
}

/// Returns the slides that the presentation lists.
fn listed_slides(archive: &mut Archive) -> Option<Vec<String>> {
    let ids = read_elements(archive.by_name(PRESENTATION).ok()?, "sldId", |slide| {
        // In addition to the relationship there is a number without a prefix.
        let is_relationship = |key: quick_xml::name::QName<'_>| key.prefix().is_some() && local(key) == "id";
        attribute(slide, is_relationship)
    });
    let parts = read_elements(archive.by_name(RELATIONSHIPS).ok()?, "Relationship", |part| {
        let id = attribute(part, |key| local(key) == "Id")?;
        let target = attribute(part, |key| local(key) == "Target")?;
        Some((id, part_name("ppt", &target)))
    });
    let parts: HashMap<String, String> = parts.into_iter().collect();
    let names = ids.iter().map(|id| parts.get(id).cloned().unwrap_or_default());
    Some(names.collect())
}

/// Returns the name of the part with the notes of a slide.
pub fn notes_name(archive: &mut Archive, slide: &str) -> Option<String> {
    let (folder, name) = slide.rsplit_once('/')?;
    let relationships = format!("{folder}/_rels/{name}.rels");
    let notes = read_elements(archive.by_name(&relationships).ok()?, "Relationship", |part| {
        let kind = attribute(part, |key| local(key) == "Type")?;
        let target = attribute(part, |key| local(key) == "Target")?;
        kind.ends_with("/notesSlide").then(|| part_name(folder, &target))
    });
    notes.into_iter().next()
}

/// Returns the slides in the archive by their numbers.
fn existing_slides(archive: &Archive) -> Vec<String> {
    let numbered = archive.file_names().flatten().filter_map(|name| {
        let number = name.strip_prefix(SLIDE_PREFIX)?.strip_suffix(".xml")?;
        Some((number.parse::<u32>().ok()?, name.to_string()))
    });
    let mut slides: Vec<(u32, String)> = numbered.collect();
    slides.sort();
    slides.into_iter().map(|(_, name)| name).collect()
}

/// Reads the elements of this name, in any namespace. A damaged document ends where it is damaged.
fn read_elements<T>(source: impl Read, name: &str, read: impl Fn(&BytesStart<'_>) -> Option<T>) -> Vec<T> {
    let mut reader = Reader::from_reader(BufReader::new(source));
    let (mut buffer, mut found) = (Vec::new(), Vec::new());
    while found.len() < MAX_ENTRIES {
        buffer.clear();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(element) | Event::Empty(element)) if local(element.name()) == name => {
                found.extend(read(&element));
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    found
}

fn local<'a>(name: quick_xml::name::QName<'a>) -> &'a str {
    name.local_name().into_inner()
}

/// Returns the value of the first attribute with a fitting name.
fn attribute(
    element: &BytesStart<'_>,
    is_wanted: impl Fn(quick_xml::name::QName<'_>) -> bool,
) -> Option<String> {
    let found = element
        .attributes()
        .flatten()
        .find(|attribute| is_wanted(attribute.key))?;
    Some(found.value.into_owned())
}

/// Returns the name of the part at a path relative to a folder.
fn part_name(folder: &str, target: &str) -> String {
    let mut path: Vec<&str> = match target.starts_with('/') {
        true => Vec::new(),
        false => folder.split('/').collect(),
    };
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                path.pop();
            }
            step => path.push(step),
        }
    }
    path.join("/")
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use zip::{CompressionMethod, ZipArchive, ZipWriter, write::SimpleFileOptions};

    use super::*;
    use crate::reader::{document::PreviewLimits, office::read_zip};

    /// Returns a presentation with these further parts, whose slides say their names.
    fn presentation(parts: &[(&str, &str)], slides: &[&str]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        let mut add = |name: &str, text: &str| {
            zip.start_file(name, stored).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        };
        for (name, text) in parts {
            add(name, text);
        }
        for name in slides {
            add(name, &format!("<p:sld><a:p><a:t>{name}</a:t></a:p></p:sld>"));
        }
        zip.finish().unwrap().into_inner()
    }

    fn names(data: Vec<u8>) -> Vec<String> {
        slide_names(&mut ZipArchive::new(Cursor::new(data)).unwrap())
    }

    #[test]
    fn slides_have_the_order_of_the_list() {
        let list = r#"<p:presentation><p:sldIdLst><p:sldId id="256" r:id="rId3"/><p:sldId id="258" r:id="rId9"/>
            <p:sldId id="257" r:id="rId2"></p:sldId></p:sldIdLst></p:presentation>"#;
        let relationships = r#"<Relationships><Relationship Id="rId2" Type="slide" Target="/ppt/slides/slide12.xml"/>
            <Relationship Id="rId3" Target="slides/slide7.xml"/></Relationships>"#;
        let data = presentation(
            &[(PRESENTATION, list), (RELATIONSHIPS, relationships)],
            &[
                "ppt/slides/slide12.xml",
                "ppt/slides/slide7.xml",
                "ppt/slides/slide1.xml",
            ],
        );
        assert_eq!(
            names(data.clone()),
            ["ppt/slides/slide7.xml", "", "ppt/slides/slide12.xml"]
        );
        let limits = PreviewLimits { bytes: 1000, rows: 1 };
        assert_eq!(
            read_zip(data, limits).content.unwrap().text,
            "[Slide 1]\nppt/slides/slide7.xml\n[Slide 3]\nppt/slides/slide12.xml\n"
        );
    }

    #[test]
    fn slides_without_a_list_have_their_numbers() {
        let data = presentation(
            &[(PRESENTATION, "<p:presentation/>")],
            &[
                "ppt/slides/slide10.xml",
                "ppt/slides/slide9.xml",
                "ppt/slides/slides.xml",
            ],
        );
        assert_eq!(names(data), ["ppt/slides/slide9.xml", "ppt/slides/slide10.xml"]);
    }
}
