//! The kinds of HTML elements that matter for readable text.

/// A kind of element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tag {
    A,
    Article,
    Blockquote,
    /// A block without other meaning: `div`, `section`, `figure` …
    Block,
    Br,
    Code,
    Dd,
    Dl,
    Dt,
    Form,
    Heading(u8),
    Hr,
    Img,
    /// A part of a line, such as `b`, `span` and unknown elements.
    Inline,
    Li,
    Main,
    Ol,
    P,
    Pre,
    Table,
    Td,
    Th,
    Title,
    Tr,
    Ul,
    /// The banner at the top of a page, or the heading of an article.
    Header,
    /// Navigation and other content outside the main text.
    Aside,
    /// Content that is not text: scripts, styles, controls, media.
    NoText,
    /// An element without content and without meaning here.
    Void,
}

impl Tag {
    pub fn from_name(name: &[u8]) -> Self {
        match name {
            b"a" => Self::A,
            b"article" => Self::Article,
            b"blockquote" => Self::Blockquote,
            b"br" => Self::Br,
            b"code" | b"kbd" | b"samp" | b"tt" => Self::Code,
            b"dd" => Self::Dd,
            b"dl" => Self::Dl,
            b"dt" => Self::Dt,
            b"form" => Self::Form,
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => Self::Heading(name[1] - b'0'),
            b"header" => Self::Header,
            b"hr" => Self::Hr,
            b"img" => Self::Img,
            b"li" => Self::Li,
            b"main" => Self::Main,
            b"ol" => Self::Ol,
            b"p" => Self::P,
            b"pre" | b"listing" | b"xmp" | b"plaintext" => Self::Pre,
            b"table" => Self::Table,
            b"td" => Self::Td,
            b"th" => Self::Th,
            b"title" => Self::Title,
            b"tr" => Self::Tr,
            b"ul" | b"menu" | b"dir" => Self::Ul,
            b"address" | b"body" | b"caption" | b"center" | b"details" | b"div" | b"fieldset"
            | b"figcaption" | b"figure" | b"head" | b"hgroup" | b"html" | b"legend" | b"section"
            | b"summary" | b"tbody" | b"tfoot" | b"thead" => Self::Block,
            b"aside" | b"footer" | b"nav" | b"search" => Self::Aside,
            b"audio" | b"button" | b"canvas" | b"datalist" | b"dialog" | b"iframe" | b"map" | b"meter"
            | b"noembed" | b"noframes" | b"noscript" | b"object" | b"progress" | b"script" | b"select"
            | b"style" | b"svg" | b"template" | b"textarea" | b"video" => Self::NoText,
            b"area" | b"base" | b"col" | b"embed" | b"input" | b"link" | b"meta" | b"param" | b"source"
            | b"track" | b"wbr" => Self::Void,
            _ => Self::Inline,
        }
    }

    /// Returns `true` for an element that can't have content.
    pub fn is_void(self) -> bool {
        matches!(self, Self::Br | Self::Hr | Self::Img | Self::Void)
    }

    /// Returns `true` for a block element. A paragraph ends where one begins.
    pub fn is_block(self) -> bool {
        !matches!(
            self,
            Self::A | Self::Br | Self::Code | Self::Img | Self::Inline | Self::NoText | Self::Void
        )
    }
}
