//! The functions that `view!` calls for elements, and the methods that it calls for attributes.

use crate::{element::Element, value::AttributeValue};

macro_rules! tags {
    ($namespace:expr, $($tag:ident)+) => {
        $(
            pub fn $tag() -> crate::element::Element {
                crate::element::Element::new(stringify!($tag), $namespace)
            }
        )+
    };
}

/// HTML.
pub mod html {
    tags!(None, a article aside audio b bdi bdo blockquote br button caption code dd del details dialog div dl dt em fieldset figcaption
        figure footer form h1 h2 h3 h4 h5 h6 header hr i iframe img input ins kbd label legend li main mark nav ol optgroup option
        p pre progress s section select small span strong sub summary sup table tbody td template textarea tfoot th thead time
        title tr u ul);
}

/// SVG.
pub mod svg {
    tags!(Some("http://www.w3.org/2000/svg"), circle g line path polygon polyline rect svg text title);
}

macro_rules! attributes {
    ($($method:ident $name:literal,)+) => {
        impl Element {
            $(
                pub fn $method(self, value: impl AttributeValue) -> Self {
                    self.attr($name, value)
                }
            )+
        }
    };
}

attributes! {
    accept "accept",
    accesskey "accesskey",
    action "action",
    alt "alt",
    aria_activedescendant "aria-activedescendant",
    aria_atomic "aria-atomic",
    aria_autocomplete "aria-autocomplete",
    aria_busy "aria-busy",
    aria_checked "aria-checked",
    aria_colcount "aria-colcount",
    aria_colindex "aria-colindex",
    aria_controls "aria-controls",
    aria_current "aria-current",
    aria_describedby "aria-describedby",
    aria_description "aria-description",
    aria_disabled "aria-disabled",
    aria_expanded "aria-expanded",
    aria_haspopup "aria-haspopup",
    aria_hidden "aria-hidden",
    aria_invalid "aria-invalid",
    aria_keyshortcuts "aria-keyshortcuts",
    aria_label "aria-label",
    aria_labelledby "aria-labelledby",
    aria_live "aria-live",
    aria_modal "aria-modal",
    aria_orientation "aria-orientation",
    aria_pressed "aria-pressed",
    aria_relevant "aria-relevant",
    aria_roledescription "aria-roledescription",
    aria_rowcount "aria-rowcount",
    aria_rowindex "aria-rowindex",
    aria_selected "aria-selected",
    aria_sort "aria-sort",
    aria_valuemax "aria-valuemax",
    aria_valuemin "aria-valuemin",
    aria_valuenow "aria-valuenow",
    aria_valuetext "aria-valuetext",
    autocapitalize "autocapitalize",
    autocomplete "autocomplete",
    autofocus "autofocus",
    capture "capture",
    checked "checked",
    controls "controls",
    cite "cite",
    cols "cols",
    colspan "colspan",
    contenteditable "contenteditable",
    datetime "datetime",
    decoding "decoding",
    dir "dir",
    disabled "disabled",
    download "download",
    draggable "draggable",
    enctype "enctype",
    enterkeyhint "enterkeyhint",
    fetchpriority "fetchpriority",
    r#for "for",
    form "form",
    formaction "formaction",
    formnovalidate "formnovalidate",
    height "height",
    hidden "hidden",
    href "href",
    hreflang "hreflang",
    id "id",
    inert "inert",
    inputmode "inputmode",
    label "label",
    lang "lang",
    list "list",
    loading "loading",
    max "max",
    maxlength "maxlength",
    method "method",
    min "min",
    minlength "minlength",
    multiple "multiple",
    name "name",
    open "open",
    pattern "pattern",
    placeholder "placeholder",
    preload "preload",
    popover "popover",
    popovertarget "popovertarget",
    popovertargetaction "popovertargetaction",
    readonly "readonly",
    referrerpolicy "referrerpolicy",
    rel "rel",
    required "required",
    reversed "reversed",
    role "role",
    rows "rows",
    rowspan "rowspan",
    sandbox "sandbox",
    scope "scope",
    selected "selected",
    size "size",
    span "span",
    spellcheck "spellcheck",
    src "src",
    srcdoc "srcdoc",
    start "start",
    step "step",
    tabindex "tabindex",
    target "target",
    title "title",
    r#type "type",
    value "value",
    width "width",
    wrap "wrap",
}
