//! Icons: small inline SVGs in the colour of the text around them. An element with only an icon has an accessible name;
//! the SVG is hidden from screen readers.

use leptos::prelude::*;

use crate::runtime::erase::Erase;

fn icon(path: &'static str) -> AnyView {
    view! {
        <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
            <path d=path/>
        </svg>
    }
    .erase()
}

macro_rules! icons {
    ($($name:ident: $path:literal,)*) => {
        $(pub fn $name() -> AnyView {
            icon($path)
        })*

        /// All of them, by name.
        #[cfg(debug_assertions)]
        pub const ALL: &[(&str, fn() -> AnyView)] = &[$((stringify!($name), $name)),*];
    };
}

icons! {
    menu: "M4 7h16M4 12h16M4 17h10",
    plus: "M12 5v14M5 12h14",
    star: "M12 3.5 14.6 8.9 20.5 9.7 16.2 13.8 17.3 19.7 12 16.9 6.7 19.7 7.8 13.8 3.5 9.7 9.4 8.9Z",
    close: "M6 6l12 12M18 6L6 18",
    pin: "M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v5",
    unpin: "M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v5M4 4l16 16",
    archive: "M4 5h16v4H4zM5.5 9v10h13V9M10 13h4",
    unarchive: "M4 5h16v4H4zM5.5 9v10h13V9M12 17v-5M9.5 14l2.5-2.5 2.5 2.5",
    check_all: "M3 13l4 4 9-10M12 16l1 1 8-9",
    dashed: "M9 4.5a8 8 0 0 1 6 0M18.2 7a8 8 0 0 1 1.7 4M19.5 15a8 8 0 0 1-3.5 4M12.5 20a8 8 0 0 1-4.5-1M5 16a8 8 0 0 1-1-4.5M4.8 8.5a8 8 0 0 1 1-1.5",
    send: "M12 19V5M6 11l6-6 6 6",
    stop: "M8 8h8v8H8z",
    copy: "M9 9h10v11H9zM5 15V4h10",
    check: "M5 13l4 4L19 7",
    play: "M8 5l11 7-11 7z",
    retry: "M4 12a8 8 0 1 0 2.5-5.8M4 4v5h5",
    previous: "M15 6l-6 6 6 6",
    next: "M9 6l6 6-6 6",
    down: "M12 5v14M6 13l6 6 6-6",
    attach: "M20 11l-8.5 8.5a5 5 0 0 1-7-7L13 4a3.3 3.3 0 0 1 4.7 4.7L9.2 17a1.6 1.6 0 0 1-2.3-2.3L14.5 7",
    camera: "M4 8h4l2-3h4l2 3h4v11H4zM12 10a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z",
    pencil: "M4 20l1-4L16 5l3 3L8 19z",
    trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
    sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5L19 19M5 19l1.5-1.5M17.5 6.5L19 5",
    moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
    system: "M4 5h16v11H4zM9 20h6M12 16v4",
    bell: "M6 17v-6a6 6 0 0 1 12 0v6l2 1H4zM10 21h4",
    expand: "M14 4h6v6M20 4l-8 8M10 5H5v14h14v-5",
    sidebar: "M4 5h16v14H4zM10 5v14",
    panel: "M4 5h16v14H4zM14 5v14",
    download: "M12 4v11M7 11l5 5 5-5M5 20h14",
    wrap: "M4 6h16M4 12h13a3 3 0 0 1 0 6h-4M15 15l-3 3 3 3M4 18h4",
    code: "M9 7l-5 5 5 5M15 7l5 5-5 5",
    pulse: "M3 12h4l3-7 4 14 3-7h4",
    image: "M4 5h16v14H4zM4 16l5-5 5 5 2-2 4 4M15 8.5a1 1 0 1 0 0 2 1 1 0 0 0 0-2z",
    globe: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18",
    sliders: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM9 15a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
    search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5L20 20",
    page: "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
    book: "M12 6c-2-1.5-5-2-8-2v14c3 0 6 .5 8 2 2-1.5 5-2 8-2V4c-3 0-6 .5-8 2zM12 6v14",
    database: "M12 3c-4 0-7 1.2-7 3s3 3 7 3 7-1.2 7-3-3-3-7-3zM5 6v12c0 1.8 3 3 7 3s7-1.2 7-3V6M5 12c0 1.8 3 3 7 3s7-1.2 7-3",
    bookmark: "M7 4h10v16l-5-4-5 4z",
    calculator: "M6 3h12v18H6zM9 7h6M9 12h.5M14.5 12h.5M9 16.5h.5M14.5 16.5h.5",
    clock: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4l3 2",
    plug: "M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4",
    gear: "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.1 2.1M16.3 16.3l2.1 2.1M5.6 18.4l2.1-2.1M16.3 7.7l2.1-2.1",
    chevron: "M7 10l5 5 5-5",
    eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
    bulb: "M9 17a6 6 0 1 1 6 0v1.5H9zM10 21h4",
    wrench: "M14.5 6.5a4 4 0 0 1 5-1.5l-2.5 2.5 1.5 1.5L21 6.5a4 4 0 0 1-5.5 5L7 20l-3-3 8.5-8.5a4 4 0 0 1 2-2z",
    dots: "M5 12a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0M11.5 12a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0M18 12a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0",
    branch: "M7 4v16M7 15c0-5 10-3 10-9M13.5 9L17 5.5 20.5 9",
    quote: "M5 7v10M9 8h11M9 12h11M9 16h7",
    people: "M9 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM3 19c0-3 2.5-5 6-5s6 2 6 5M16 5.5a3 3 0 0 1 0 5.5M18 14.5c2 .7 3 2.3 3 4.5",
    pause: "M9 6v12M15 6v12",
    folder: "M4 6h6l2 2.5h8V18H4z",
    folder_plus: "M4 6h6l2 2.5h8V18H4zM12 11v5M9.5 13.5h5",
    table: "M4 5h16v14H4zM4 10h16M4 14.5h16M10 5v14",
    chat: "M4 5h16v11H10l-5 4v-4H4z",
    keyboard: "M3 7h18v10H3zM7 10.5h.5M11.8 10.5h.5M16.5 10.5h.5M8 13.8h8",
    alert: "M12 4l9 16H3zM12 10v4M12 17v.5",
}

/// The logo: two voices in one room.
pub fn brand() -> AnyView {
    view! {
        <svg class="brand-mark" viewBox="0 0 24 24" aria-hidden="true">
            <path class="brand-back" d="M3 5h13v9H8l-5 4z"/>
            <path class="brand-front" d="M10 10h11v11l-4-3h-7z"/>
        </svg>
    }
    .erase()
}
