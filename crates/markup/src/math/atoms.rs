//! The atoms of a formula's source: the characters and commands that become elements. Their number bounds the work of
//! showing it, without parsing it.

/// Finds the bytes of a formula that begin an atom, one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct AtomReader {
    command: CommandPart,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CommandPart {
    #[default]
    None,
    Backslash,
    Name,
}

impl AtomReader {
    /// Returns true if the next byte begins an atom: a command, or a character other than whitespace.
    pub fn is_atom(&mut self, byte: u8) -> bool {
        let (is_part, command) = match (self.command, byte) {
            (CommandPart::None | CommandPart::Name, b'\\') => (false, CommandPart::Backslash),
            (CommandPart::Backslash | CommandPart::Name, b'a'..=b'z' | b'A'..=b'Z') => {
                (true, CommandPart::Name)
            }
            (CommandPart::Backslash, _) => (true, CommandPart::None),
            _ => (false, CommandPart::None),
        };
        self.command = command;
        let is_continuation = byte & 0xc0 == 0x80;
        !is_part && !is_continuation && !byte.is_ascii_whitespace()
    }
}

/// The number of atoms.
pub(super) fn count(latex: &str) -> usize {
    let mut reader = AtomReader::default();
    latex.bytes().filter(|byte| reader.is_atom(*byte)).count()
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn counts_commands_and_characters() {
        for (latex, atoms) in [
            ("", 0),
            ("x + 1", 3),
            ("\\alpha_1", 3),
            ("\\,\\\\\\{", 3),
            ("é 漢", 2),
            ("\\frac ab", 3),
        ] {
            assert_eq!(count(latex), atoms, "{latex}");
        }
    }
}
