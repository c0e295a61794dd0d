//! The meaning of an element's attributes.

use html5gum::StartTag;

use super::tag::Tag;

/// ARIA roles of content outside the main text.
const ASIDE_ROLES: [&[u8]; 11] = [
    b"alert",
    b"alertdialog",
    b"banner",
    b"complementary",
    b"contentinfo",
    b"dialog",
    b"menu",
    b"menubar",
    b"navigation",
    b"search",
    b"toolbar",
];

/// Returns an attribute's bytes.
pub fn attribute_bytes<'a>(tag: &'a StartTag<()>, name: &str) -> Option<&'a [u8]> {
    tag.attributes.get(name.as_bytes()).map(|value| value.as_slice())
}

/// Returns an attribute as text.
pub fn attribute_text(tag: &StartTag<()>, name: &str) -> Option<Box<str>> {
    Some(String::from_utf8_lossy(attribute_bytes(tag, name)?).into())
}

/// Returns the tag that an element's role stands for, if that differs from its name.
pub fn role_tag(tag: &StartTag<()>) -> Option<Tag> {
    match attribute_bytes(tag, "role")? {
        b"main" => Some(Tag::Main),
        b"article" => Some(Tag::Article),
        _ => None,
    }
}

/// Returns `true` for an element that is not shown, or that is outside the main text.
pub fn is_hidden(tag: &StartTag<()>) -> bool {
    let attribute = |name| attribute_bytes(tag, name).map(<[u8]>::to_ascii_lowercase);
    let is_invisible = |style: Vec<u8>| {
        let style = String::from_utf8_lossy(&style).replace(|c: char| c.is_ascii_whitespace(), "");
        style.contains("display:none") || style.contains("visibility:hidden")
    };
    attribute("hidden").is_some_and(|hidden| hidden != b"until-found")
        || attribute("aria-hidden").is_some_and(|hidden| hidden == b"true")
        || attribute("role").is_some_and(|role| ASIDE_ROLES.contains(&&*role))
        || attribute("style").is_some_and(is_invisible)
}
