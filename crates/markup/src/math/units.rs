//! Numbers with units: the notations of *siunitx* (`\SI{5}{\kilo\gram}`) and of *mhchem* (`\pu{5 kJ/mol}`) in terms that the
//! parser knows.

const PREFIXES: [(&str, &str); 20] = [
    ("kilo", "k"),
    ("milli", "m"),
    ("micro", "µ"),
    ("nano", "n"),
    ("pico", "p"),
    ("femto", "f"),
    ("atto", "a"),
    ("centi", "c"),
    ("deci", "d"),
    ("deca", "da"),
    ("hecto", "h"),
    ("mega", "M"),
    ("giga", "G"),
    ("tera", "T"),
    ("peta", "P"),
    ("exa", "E"),
    ("kibi", "Ki"),
    ("mebi", "Mi"),
    ("gibi", "Gi"),
    ("tebi", "Ti"),
];

const UNITS: [(&str, &str); 56] = [
    ("gram", "g"),
    ("kilogram", "kg"),
    ("metre", "m"),
    ("meter", "m"),
    ("second", "s"),
    ("ampere", "A"),
    ("kelvin", "K"),
    ("mole", "mol"),
    ("candela", "cd"),
    ("hertz", "Hz"),
    ("newton", "N"),
    ("pascal", "Pa"),
    ("joule", "J"),
    ("watt", "W"),
    ("coulomb", "C"),
    ("volt", "V"),
    ("farad", "F"),
    ("ohm", "Ω"),
    ("siemens", "S"),
    ("weber", "Wb"),
    ("tesla", "T"),
    ("henry", "H"),
    ("lumen", "lm"),
    ("lux", "lx"),
    ("becquerel", "Bq"),
    ("gray", "Gy"),
    ("sievert", "Sv"),
    ("katal", "kat"),
    ("celsius", "°C"),
    ("degreeCelsius", "°C"),
    ("degree", "°"),
    ("arcminute", "′"),
    ("arcsecond", "″"),
    ("minute", "min"),
    ("hour", "h"),
    ("day", "d"),
    ("litre", "L"),
    ("liter", "L"),
    ("tonne", "t"),
    ("hectare", "ha"),
    ("electronvolt", "eV"),
    ("bar", "bar"),
    ("percent", "%"),
    ("dalton", "Da"),
    ("byte", "B"),
    ("bit", "bit"),
    ("radian", "rad"),
    ("steradian", "sr"),
    ("decibel", "dB"),
    ("bel", "B"),
    ("neper", "Np"),
    ("angstrom", "Å"),
    ("astronomicalunit", "au"),
    ("parsec", "pc"),
    ("um", "µm"),
    ("us", "µs"),
];

/// The maximum length of an abbreviated unit (`\kg`, `\GeV`, `\mmol`), which is shown as it is named.
const MAX_ABBREVIATION: usize = 4;

/// Returns a number of *siunitx* or *mhchem* as LaTeX: `1.5e-3`, `20 +- 1`.
pub(super) fn number(source: &str) -> String {
    let source = source.trim().replace("+-", "\\pm ");
    let exponent = source.find(['e', 'E']).filter(|at| {
        let (before, after) = (&source[..*at], &source[at + 1..]);
        let digits = after.trim_start_matches(['+', '-']);
        before
            .chars()
            .all(|c| c.is_ascii_digit() || "+-., ()".contains(c))
            && !digits.is_empty()
            && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    match exponent {
        Some(at) => {
            let (factor, power) = (&source[..at], source[at + 1..].trim_start_matches('+'));
            let times = if factor.is_empty() { "" } else { "\\times " };
            [factor, times, "10^{", power, "}"].concat()
        }
        None => source,
    }
}

/// Returns several numbers of *siunitx* with their unit as LaTeX; `None` if the unit has an unknown command.
pub(super) fn several(numbers: &[&str], separator: &str, unit: &str) -> Option<String> {
    let unit = match unit {
        "" => String::new(),
        unit => ["\\,", &units(unit)?].concat(),
    };
    let numbers: Vec<String> = numbers
        .iter()
        .map(|value| [&number(value), &*unit].concat())
        .collect();
    Some(numbers.join(separator))
}

/// Returns an angle of *siunitx* as LaTeX: `12.5`, or degrees, minutes and seconds as `6;7;6.5`.
pub(super) fn angle(source: &str) -> String {
    let parts = source.split(';').map(str::trim).zip(["°", "′", "″"]);
    let parts = parts.filter(|(value, _)| !value.is_empty());
    parts
        .map(|(value, sign)| [&number(value), "\\text{", sign, "}"].concat())
        .collect()
}

/// Returns the units of *siunitx* as LaTeX: by commands, or written out. `None` if there is an unknown command.
pub(super) fn units(source: &str) -> Option<String> {
    let source = source.trim();
    if !source.contains('\\') {
        return Some(written_out(source));
    }
    let mut out = String::new();
    let mut prefix = "";
    // What the next unit gets: a minus sign, and a power.
    let (mut is_divisor, mut power) = (false, None);
    let mut parts = source.split('\\');
    out.push_str(&written_out(parts.next().unwrap_or_default()));
    for part in parts {
        let end = part
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(part.len());
        let (name, argument) = part.split_at(end);
        let argument = argument.trim().trim_matches(['{', '}', '.', '~']);
        match name {
            "" => {}
            "per" => is_divisor = true,
            "square" => power = Some("2"),
            "cubic" => power = Some("3"),
            "squared" => raise(&mut out, "2"),
            "cubed" => raise(&mut out, "3"),
            "tothe" | "raiseto" => raise(&mut out, argument),
            _ => match PREFIXES.iter().find(|(known, _)| *known == name) {
                Some((_, short)) => prefix = short,
                None => {
                    let known = UNITS.iter().find(|(known, _)| *known == name);
                    let unit = known.map(|(_, short)| *short);
                    let unit = unit.or((name.len() <= MAX_ABBREVIATION).then_some(name))?;
                    if !out.is_empty() {
                        out.push_str("\\,");
                    }
                    out.push_str(&upright(&[std::mem::take(&mut prefix), unit].concat()));
                    let sign = if std::mem::take(&mut is_divisor) { "-" } else { "" };
                    match power.take() {
                        Some(power) => out.push_str(&["^{", sign, power, "}"].concat()),
                        None if !sign.is_empty() => out.push_str("^{-1}"),
                        None => {}
                    }
                    if !argument.is_empty() {
                        out.push_str(&["\\,", &written_out(argument)].concat());
                    }
                }
            },
        }
    }
    Some(out)
}

/// Sets the power of the last unit.
fn raise(out: &mut String, power: &str) {
    let sign = match out.strip_suffix("^{-1}").map(str::len) {
        Some(length) => {
            out.truncate(length);
            "-"
        }
        None => "",
    };
    out.push_str(&["^{", sign, power, "}"].concat());
}

/// Returns a number with its unit, as in `\pu{1.2e3 kJ*mol-1}`.
pub(super) fn physical_unit(source: &str) -> Option<String> {
    let source = source.trim();
    let is_number = source.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    if !is_number {
        return units(source);
    }
    let (value, unit) = match source.split_once(char::is_whitespace) {
        Some((value, unit)) => (value, unit.trim()),
        None => (source, ""),
    };
    let value = number(value);
    Some(match unit {
        "" => value,
        unit => [&value, "\\,", &units(unit)?].concat(),
    })
}

/// Units as they are written: `kJ/mol`, `kg.m^-2`, `mol-1`, `m2`.
fn written_out(source: &str) -> String {
    let mut out = String::new();
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let is_letter = |c: char| c.is_alphabetic() || "°%′″".contains(c);
        if is_letter(c) {
            let end = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
            out.push_str(&upright(&rest[..end]));
            rest = &rest[end..];
            let power = rest.trim_start_matches('^').trim_start_matches('{');
            let end = power
                .char_indices()
                .find(|(at, c)| !(c.is_ascii_digit() || *at == 0 && "+-".contains(*c)))
                .map_or(power.len(), |(at, _)| at);
            if power[..end].ends_with(|c: char| c.is_ascii_digit()) {
                out.push_str(&["^{", &power[..end], "}"].concat());
                rest = power[end..].trim_start_matches('}');
            }
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '.' | '*' | '·' => out.push_str("\\cdot "),
            c if c.is_whitespace() || c == '~' => out.push_str("\\,"),
            '{' | '}' | '^' | '_' | '&' | '$' | '#' | '\\' => {}
            c => out.push(c),
        }
    }
    out
}

fn upright(unit: &str) -> String {
    ["\\text{", &unit.replace('%', "\\%"), "}"].concat()
}
