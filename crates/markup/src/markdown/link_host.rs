//! Links whose text is another address than they lead to: `[http://good.example](http://evil.example)`.

use super::invisible::is_invisible;

const MAIL_SCHEME: &str = "mailto:";

/// The ends of names that people read as addresses without `https://` before them. A link's text that ends in another one is
/// more often a file (`main.rs`, `README.md`).
const KNOWN_ENDS: [&str; 42] = [
    "com", "org", "net", "edu", "gov", "mil", "int", "info", "io", "ai", "dev", "app", "co", "me", "bank",
    "shop", "uk", "de", "fr", "eu", "cn", "jp", "ru", "in", "us", "ca", "au", "nl", "ch", "it", "es", "br",
    "kr", "tw", "xyz", "site", "online", "top", "pro", "tech", "cloud", "рф",
];

/// Returns the address that a link leads to, if its text is or has another one: the host, or the mailbox.
pub(super) fn real_address(shown: &str, href: &str) -> Option<String> {
    let mut words = shown.split_whitespace().map(|word| {
        let word: String = word.chars().filter(|c| !is_invisible(*c)).map(as_typed).collect();
        word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/')
            .to_lowercase()
    });
    let href = href.trim().to_lowercase();
    if let Some(mailbox) = href.strip_prefix(MAIL_SCHEME) {
        let mailbox = mailbox.split('?').next().unwrap_or_default().to_owned();
        let is_other = |address: &str| address != mailbox && !mailbox.ends_with(&["@", address].concat());
        return words
            .filter_map(|word| address(&word))
            .any(|address| is_other(&address))
            .then_some(mailbox);
    }
    let real = host(&href);
    words
        .any(|word| address(&word).is_some_and(|address| !is_same_site(&address, real)))
        .then(|| match real {
            "" => "a page of this site".to_owned(),
            host => host.to_owned(),
        })
}

/// Returns the character that a wide one and a full stop of Chinese or Japanese stand for in an address.
fn as_typed(c: char) -> char {
    match c {
        '\u{3002}' | '\u{ff61}' => '.',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        c => c,
    }
}

/// Returns the address that a word of a link's text is read as.
fn address(word: &str) -> Option<String> {
    if let Some(rest) = word.find("://").map(|at| &word[at + 3..]) {
        return Some(authority(rest).to_owned());
    }
    let word = word.strip_prefix(MAIL_SCHEME).unwrap_or(word);
    let name = authority(word.strip_prefix("//").unwrap_or(word));
    if let Some((mailbox, domain)) = name.rsplit_once('@') {
        return (!mailbox.is_empty() && domain.contains('.')).then(|| name.to_owned());
    }
    let host = without_port(name);
    let end = host.rsplit_once('.')?.1;
    let is_number = host.parse::<std::net::Ipv4Addr>().is_ok();
    (host.starts_with("www.") || is_number || KNOWN_ENDS.contains(&end)).then(|| name.to_owned())
}

/// Returns the host of a web URL, without its port; empty for a link to this site.
fn host(url: &str) -> &str {
    url.split_once("://")
        .map_or("", |(_, rest)| without_port(authority(rest)))
}

fn authority(rest: &str) -> &str {
    rest.split(['/', '?', '#', '\\']).next().unwrap_or_default()
}

fn without_port(authority: &str) -> &str {
    let (host, port) = authority.rsplit_once(':').unwrap_or((authority, ""));
    if port.bytes().all(|byte| byte.is_ascii_digit()) {
        host
    } else {
        authority
    }
}

/// Returns true if one of two hosts is a part of the other: `example.com` and `www.example.com`.
fn is_same_site(shown: &str, real: &str) -> bool {
    let shown = without_port(shown).trim_end_matches('.');
    let real = real.trim_end_matches('.');
    let is_below = |a: &str, b: &str| b.contains('.') && a.ends_with(&[".", b].concat());
    shown == real || is_below(shown, real) || is_below(real, shown)
}

#[cfg(test)]
mod tests {
    use super::real_address;

    #[test]
    fn names_the_host_behind_another_address() {
        for (shown, href, real) in [
            ("http://good.example/a", "http://evil.example/b", "evil.example"),
            ("HTTPS://Good.Example", "https://EVIL.example:81", "evil.example"),
            ("good.com", "http://evil.example", "evil.example"),
            ("good.com:443/login", "http://evil.example", "evil.example"),
            (
                "Sign in at good.com - it's safe",
                "http://evil.example",
                "evil.example",
            ),
            ("//good.com", "http://evil.example", "evil.example"),
            ("ｇｏｏｄ．ｃｏｍ", "http://evil.example", "evil.example"),
            ("good。com", "http://evil.example", "evil.example"),
            ("gооd.com", "http://good.com", "good.com"),
            ("банк.рф", "http://evil.example", "evil.example"),
            ("192.168.0.1:8080", "http://evil.example", "evil.example"),
            ("www.good.example", "http://evil.example", "evil.example"),
            (
                "See (https://good.example), please",
                "https://evil.example",
                "evil.example",
            ),
            (
                "https://good.example.evil.example",
                "https://other.example",
                "other.example",
            ),
            (
                "https://good.example",
                "https://good.example.evil.org",
                "good.example.evil.org",
            ),
            (
                "https://good.example",
                "https://notgood.example",
                "notgood.example",
            ),
            (
                "https://good.example@evil.example",
                "https://evil.example",
                "evil.example",
            ),
            (
                "https://go\u{200b}od.example",
                "https://evil.example",
                "evil.example",
            ),
            ("hxxp://good.example", "https://evil.example", "evil.example"),
            ("https://good.example", "/c/1", "a page of this site"),
            (
                "https://good.example",
                "mailto:a@evil.example?subject=x",
                "a@evil.example",
            ),
            ("help@good.example", "mailto:a@evil.example", "a@evil.example"),
            ("help@good.example", "https://evil.example", "evil.example"),
            (
                "mailto:help@good.example",
                "mailto:a@evil.example",
                "a@evil.example",
            ),
        ] {
            assert_eq!(
                real_address(shown, href).as_deref(),
                Some(real),
                "{shown} to {href}"
            );
        }
    }

    #[test]
    fn honest_links_stay_as_they_are() {
        for (shown, href) in [
            ("https://good.example/a", "https://good.example/b"),
            ("good.com", "https://www.good.com/"),
            ("www.good.com", "https://good.com:443"),
            ("https://docs.good.com", "https://good.com/docs"),
            ("main.rs", "https://github.com/a/main.rs"),
            ("README.md", "docs/README.md"),
            ("Node.js 20", "https://nodejs.org"),
            ("e.g. this", "https://a.example"),
            ("a sentence. Another one", "https://a.example"),
            ("help@good.com", "mailto:help@good.com"),
            ("good.com", "mailto:help@good.com"),
            ("MAILTO:HELP@GOOD.COM", "MAILTO:HELP@GOOD.COM"),
            ("mailto:help@good.com?subject=x", "mailto:help@good.com"),
            ("1.2.3", "https://a.example"),
            ("1.2.3.4.5", "https://a.example"),
            ("再见。你好", "https://a.example"),
            ("Sign in. Now", "https://a.example"),
            ("See good.com/a for more", "https://www.good.com/b"),
            ("@user", "https://a.example/user"),
            ("and/or", "/c/1"),
            ("", "https://a.example"),
        ] {
            assert_eq!(real_address(shown, href), None, "{shown} to {href}");
        }
    }
}
