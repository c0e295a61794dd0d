//! Key combinations: the form in which they are written in the code, and what is made of it.
//!
//! `Mod+Shift+O` is Control, Shift and O, on a Mac Command, Shift and O. Alternatives are separated by spaces.

use leptos::ev::KeyboardEvent;

/// A key press, as far as shortcuts look at it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPress {
    pub key: String,
    /// The place of the key on the keyboard.
    pub code: String,
    pub control: bool,
    pub meta: bool,
    pub shift: bool,
    pub alt: bool,
}

impl From<&KeyboardEvent> for KeyPress {
    fn from(event: &KeyboardEvent) -> Self {
        Self {
            key: event.key(),
            code: event.code(),
            control: event.ctrl_key(),
            meta: event.meta_key(),
            shift: event.shift_key(),
            alt: event.alt_key(),
        }
    }
}

impl KeyPress {
    /// The letter on the key. A keyboard without Latin letters has them at the places of the English one.
    fn letter(&self) -> Option<u8> {
        let letter = match self.key.as_bytes() {
            [letter] if letter.is_ascii_alphabetic() => *letter,
            _ => *self.code.strip_prefix("Key")?.as_bytes().first()?,
        };
        Some(letter.to_ascii_uppercase())
    }
}

/// One combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Combination {
    has_mod: bool,
    has_shift: bool,
    key: &'static str,
}

/// Returns the alternatives.
pub fn combinations(keys: &'static str) -> impl Iterator<Item = Combination> {
    keys.split(' ').map(|written| {
        let (has_mod, rest) = strip(written, "Mod+");
        let (has_shift, key) = strip(rest, "Shift+");
        Combination {
            has_mod,
            has_shift,
            key,
        }
    })
}

fn strip(written: &'static str, prefix: &str) -> (bool, &'static str) {
    match written.strip_prefix(prefix) {
        Some(rest) => (true, rest),
        None => (false, written),
    }
}

impl Combination {
    /// Returns true if it is a character, which belongs to the field that has the focus.
    pub fn is_character(self) -> bool {
        !self.has_mod && self.key.len() == 1
    }

    /// Returns true if a key press is this combination.
    pub fn is_pressed(self, press: &KeyPress, is_mac: bool) -> bool {
        let (main, other) = match is_mac {
            true => (press.meta, press.control),
            false => (press.control, press.meta),
        };
        if press.alt || other || main != self.has_mod {
            return false;
        }
        match self.key.as_bytes() {
            [letter] if letter.is_ascii_uppercase() => {
                press.shift == self.has_shift && press.letter() == Some(*letter)
            }
            // Some keyboards need Shift for it.
            [_] => press.key == self.key,
            _ => press.shift == self.has_shift && press.key == self.key,
        }
    }

    /// The text that people read: `Ctrl+Shift+O`, on a Mac `⇧⌘O`.
    pub fn label(self, is_mac: bool) -> String {
        let key = match self.key {
            "Escape" => "Esc",
            "ArrowUp" => "↑",
            "ArrowLeft" => "←",
            "ArrowRight" => "→",
            "ArrowDown" => "↓",
            "ContextMenu" => "Menu",
            "Enter" if is_mac => "↩",
            key => key,
        };
        let (mod_key, shift) = if is_mac {
            ("⌘", "⇧")
        } else {
            ("Ctrl+", "Shift+")
        };
        let (mod_key, shift) = (
            if self.has_mod { mod_key } else { "" },
            if self.has_shift { shift } else { "" },
        );
        // On a Mac, Command stands next to the key.
        match is_mac {
            true => [shift, mod_key, key].concat(),
            false => [mod_key, shift, key].concat(),
        }
    }
}

/// The texts of the alternatives.
pub fn labels(keys: &'static str, is_mac: bool) -> Vec<String> {
    combinations(keys).map(|keys| keys.label(is_mac)).collect()
}

/// The value of `aria-keyshortcuts`: with Control, and with Command as on a Mac.
pub fn aria_keyshortcuts(keys: &'static str) -> String {
    let mut all = keys.replace("Mod", "Control");
    for written in keys.split(' ').filter(|written| written.starts_with("Mod")) {
        all.push(' ');
        all.push_str(&written.replace("Mod", "Meta"));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(modifiers: &str, key: &str, code: &str) -> KeyPress {
        KeyPress {
            key: key.into(),
            code: code.into(),
            control: modifiers.contains('c'),
            meta: modifiers.contains('m'),
            shift: modifiers.contains('s'),
            alt: modifiers.contains('a'),
        }
    }

    fn is_pressed(keys: &'static str, press: &KeyPress, is_mac: bool) -> bool {
        combinations(keys).any(|keys| keys.is_pressed(press, is_mac))
    }

    #[test]
    fn recognizes_exactly_its_keys() {
        for (keys, modifiers, key, code, is_mac, expected) in [
            ("Mod+K", "c", "k", "KeyK", false, true),
            ("Mod+K", "m", "k", "KeyK", false, false),
            ("Mod+K", "m", "k", "KeyK", true, true),
            ("Mod+K", "c", "k", "KeyK", true, false),
            ("Mod+K", "cs", "K", "KeyK", false, false),
            ("Mod+K", "ca", "k", "KeyK", false, false),
            ("Mod+K", "cm", "k", "KeyK", false, false),
            ("Mod+K", "", "k", "KeyK", false, false),
            ("Mod+Shift+O", "cs", "O", "KeyO", false, true),
            ("Mod+Shift+O", "c", "o", "KeyO", false, false),
            // Cyrillic has no such letter, Dvorak has it elsewhere.
            ("Mod+K", "c", "л", "KeyK", false, true),
            ("Mod+K", "c", "k", "KeyV", false, true),
            ("Mod+K", "c", "t", "KeyK", false, false),
            ("?", "s", "?", "Slash", false, true),
            ("? Mod+/", "cs", "/", "Digit7", false, true),
            ("? Mod+/", "", "/", "Slash", false, false),
            ("ArrowUp", "", "ArrowUp", "ArrowUp", false, true),
            ("ArrowUp", "s", "ArrowUp", "ArrowUp", false, false),
            ("ContextMenu Shift+F10", "s", "F10", "F10", false, true),
        ] {
            let press = press(modifiers, key, code);
            assert_eq!(is_pressed(keys, &press, is_mac), expected, "{keys}: {press:?}");
        }
    }

    #[test]
    fn labels_are_those_of_the_machine() {
        assert_eq!(labels("Mod+Shift+O", false), ["Ctrl+Shift+O"]);
        assert_eq!(labels("Mod+Shift+O", true), ["⇧⌘O"]);
        assert_eq!(labels("? Mod+/", true), ["?", "⌘/"]);
        assert_eq!(labels("Escape Shift+Enter", false), ["Esc", "Shift+Enter"]);
        assert_eq!(aria_keyshortcuts("? Mod+/"), "? Control+/ Meta+/");
        assert_eq!(aria_keyshortcuts("Escape"), "Escape");
    }
}
