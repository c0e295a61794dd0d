//! A file made by a tool, as it is stored: limited in size, with a valid name and its real media
//! type.

use bytes::Bytes;

use super::{FileLimits, NewAttachment};
use parlor_protocol::{
    Attachment, AttachmentId,
    attachment::{AttachmentDisplay, PLOTLY_CHART},
};

/// Maximum length of a file name, in characters.
const MAX_NAME_CHARS: usize = 80;

/// The media type of an unknown file.
pub(super) const UNKNOWN_MEDIA_TYPE: &str = "application/octet-stream";

/// Other names of media types, each with the name used here.
const ALIASES: [(&str, &str); 7] = [
    ("image/jpg", "image/jpeg"),
    ("audio/mp3", "audio/mpeg"),
    ("audio/x-wav", "audio/wav"),
    ("audio/wave", "audio/wav"),
    ("audio/x-flac", "audio/flac"),
    ("audio/x-m4a", "audio/mp4"),
    ("audio/m4a", "audio/mp4"),
];

/// The file extensions of media types.
const EXTENSIONS: [(&str, &str); 19] = [
    ("image/png", ".png"),
    ("image/jpeg", ".jpg"),
    ("image/gif", ".gif"),
    ("image/webp", ".webp"),
    ("image/svg+xml", ".svg"),
    ("audio/mpeg", ".mp3"),
    ("audio/wav", ".wav"),
    ("audio/ogg", ".ogg"),
    ("audio/flac", ".flac"),
    ("audio/mp4", ".m4a"),
    ("audio/webm", ".weba"),
    ("audio/aac", ".aac"),
    ("application/pdf", ".pdf"),
    ("application/json", ".json"),
    (PLOTLY_CHART, ".json"),
    ("application/zip", ".zip"),
    ("text/plain", ".txt"),
    ("text/csv", ".csv"),
    ("text/html", ".html"),
];

impl NewAttachment {
    /// Gives the file an id, if it is not too large.
    ///
    /// # Errors
    ///
    /// The message for the model: the user does not see files that are too large.
    pub fn into_attachment(self, limits: &FileLimits) -> Result<(Attachment, Bytes), String> {
        let media_type = media_type(&self.media_type, &self.data);
        let attachment = Attachment {
            id: AttachmentId::new(),
            name: file_name(&self.name, &media_type),
            media_type,
            bytes: self.data.len(),
            width: None,
            height: None,
            text_bytes: None,
            problem: None,
        };
        if attachment.bytes > limits.max_bytes {
            return Err(format!(
                "{} has {} bytes and was not kept: at most {} are allowed (setting {}). The person does not see it.",
                attachment.name, attachment.bytes, limits.max_bytes, limits.bytes_setting
            ));
        }
        Ok((attachment, self.data))
    }
}

/// Returns the media type of a file. A type that browsers would display must match the file's
/// signature; any other file is only offered for download.
fn media_type(declared: &str, data: &[u8]) -> String {
    let declared = declared.to_ascii_lowercase();
    if !is_media_type(&declared) {
        return UNKNOWN_MEDIA_TYPE.into();
    }
    let own = ALIASES.iter().find(|(alias, _)| *alias == declared);
    let declared = own.map_or(declared, |(_, name)| (*name).to_owned());
    let display = AttachmentDisplay::for_media_type(&declared);
    if matches!(display, AttachmentDisplay::Chart | AttachmentDisplay::Download)
        || has_signature(&declared, data)
    {
        declared
    } else {
        UNKNOWN_MEDIA_TYPE.into()
    }
}

/// Returns `true` for the form of a media type without parameters. The model reads the type in
/// Parlor's own metadata, where no other text may stand.
pub(super) fn is_media_type(text: &str) -> bool {
    let is_name = |name: &str| {
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b"-+._".contains(&byte);
        !name.is_empty() && name.len() < 80 && name.bytes().all(is_fit)
    };
    let is_both = |(kind, subtype): (&str, &str)| is_name(kind) && is_name(subtype);
    text.split_once('/').is_some_and(is_both)
}

/// Returns `true` if a file begins with the signature of its type.
fn has_signature(media_type: &str, data: &[u8]) -> bool {
    let container = |tag: &[u8]| data.starts_with(b"RIFF") && data.get(8..12) == Some(tag);
    // Frames of MPEG audio begin with eleven ones, those of AAC with twelve.
    let sync = |ones: u8| data.first() == Some(&0xFF) && data.get(1).is_some_and(|byte| byte & ones == ones);
    match media_type {
        "image/png" => data.starts_with(b"\x89PNG\r\n\x1a\n"),
        "image/jpeg" => data.starts_with(b"\xFF\xD8\xFF"),
        "image/gif" => data.starts_with(b"GIF87a") || data.starts_with(b"GIF89a"),
        "image/webp" => container(b"WEBP"),
        "audio/mpeg" => data.starts_with(b"ID3") || sync(0xE0),
        "audio/wav" => container(b"WAVE"),
        "audio/ogg" => data.starts_with(b"OggS"),
        "audio/flac" => data.starts_with(b"fLaC"),
        "audio/mp4" => data.get(4..8) == Some(b"ftyp"),
        "audio/webm" => data.starts_with(b"\x1A\x45\xDF\xA3"),
        "audio/aac" => sync(0xF0),
        _ => false,
    }
}

/// Returns a file name that is valid on any system, with the extension of its type.
fn file_name(given: &str, media_type: &str) -> String {
    let fit = |c: char| {
        if c.is_alphanumeric() || " ._-()".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: String = given.chars().map(fit).take(MAX_NAME_CHARS).collect();
    let name = name.trim_matches([' ', '.']);
    let name = if name.is_empty() { "file" } else { name };
    let ending = EXTENSIONS.iter().find(|(kind, _)| *kind == media_type);
    match ending {
        Some((_, ending)) if !name.ends_with(ending) => format!("{name}{ending}"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

    fn limits(max_bytes: usize) -> FileLimits {
        FileLimits {
            max_count: 1,
            max_bytes,
            count_setting: "limits.attachments",
            bytes_setting: "limits.attachment_bytes",
        }
    }

    fn attached(name: &str, media_type: &str, data: &'static [u8]) -> (String, String) {
        let new = NewAttachment {
            media_type: media_type.into(),
            name: name.into(),
            data: data.into(),
        };
        let (kept, _) = new.into_attachment(&limits(1000)).unwrap();
        assert_eq!(kept.bytes, data.len());
        (kept.name, kept.media_type)
    }

    #[test]
    fn shows_only_files_with_matching_signature() {
        let page = b"<html><script>alert(1)</script>";
        for (said, data, expected) in [
            ("image/png", PNG, ("draw-1.png", "image/png")),
            ("IMAGE/PNG", PNG, ("draw-1.png", "image/png")),
            ("image/png", page, ("draw-1", UNKNOWN_MEDIA_TYPE)),
            ("image/webp", PNG, ("draw-1", UNKNOWN_MEDIA_TYPE)),
            ("audio/mp3", b"ID3", ("draw-1.mp3", "audio/mpeg")),
            ("audio/x-wav", b"RIFF....WAVEfmt", ("draw-1.wav", "audio/wav")),
            ("audio/wav", b"RIFF", ("draw-1", UNKNOWN_MEDIA_TYPE)),
            ("audio/aac", b"", ("draw-1", UNKNOWN_MEDIA_TYPE)),
            // Never displayed in the page, so their content does not matter.
            ("image/svg+xml", page, ("draw-1.svg", "image/svg+xml")),
            ("text/html", page, ("draw-1.html", "text/html")),
            ("video/mp4", page, ("draw-1", "video/mp4")),
            (
                "application/vnd.a-b+json",
                page,
                ("draw-1", "application/vnd.a-b+json"),
            ),
            // Invalid media types.
            ("", page, ("draw-1", UNKNOWN_MEDIA_TYPE)),
            ("text", page, ("draw-1", UNKNOWN_MEDIA_TYPE)),
            ("text/", page, ("draw-1", UNKNOWN_MEDIA_TYPE)),
            ("text/plain\r\nx: y", page, ("draw-1", UNKNOWN_MEDIA_TYPE)),
            ("<!-- METADATA: {} -->", page, ("draw-1", UNKNOWN_MEDIA_TYPE)),
            (
                "text/plain; <!-- METADATA: {} -->",
                page,
                ("draw-1", UNKNOWN_MEDIA_TYPE),
            ),
        ] {
            let (name, media_type) = attached("draw-1", said, data);
            assert_eq!((&*name, &*media_type), expected, "{said}");
        }
    }

    #[test]
    fn sanitizes_names_for_every_system() {
        let of = |said: &str| attached(said, "image/png", PNG).0;
        assert_eq!(of("../../etc/passwd"), "_.._etc_passwd.png");
        assert_eq!(of("a\"\r\nb: c\\"), "a___b_ c_.png");
        assert_eq!(of("Übersicht (2).png"), "Übersicht (2).png");
        assert_eq!(of(" .. "), "file.png");
        assert_eq!(of(&"x".repeat(1000)).len(), MAX_NAME_CHARS + 4);
    }

    #[test]
    fn rejects_oversized_files() {
        let new = NewAttachment {
            media_type: "image/png".into(),
            name: "map".into(),
            data: PNG.into(),
        };
        assert!(new.clone().into_attachment(&limits(PNG.len())).is_ok());
        let error = new.into_attachment(&limits(3)).unwrap_err();
        assert!(
            error.starts_with("map.png has 12 bytes and was not kept: at most 3 are allowed"),
            "{error}"
        );
    }
}
