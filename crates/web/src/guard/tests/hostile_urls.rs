//! URLs that lead to internal hosts, by their spelling or by the resolution of a name.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const INSIDE_V4: [[u8; 4]; 12] = [
    [127, 0, 0, 1],
    [127, 0, 0, 2],
    [127, 1, 2, 3],
    [0, 0, 0, 0],
    [10, 0, 0, 1],
    [100, 100, 100, 200],
    [169, 254, 169, 254],
    [172, 16, 0, 1],
    [192, 0, 0, 192],
    [192, 168, 1, 1],
    [224, 0, 0, 1],
    [255, 255, 255, 255],
];

const INSIDE_V6: [&str; 18] = [
    "::",
    "::1",
    "0:0:0:0:0:0:0:1",
    "0000:0000:0000:0000:0000:0000:0000:0001",
    "::0001",
    "::0.0.0.1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "3fff::1",
    "fc00::1",
    "fd00::1",
    "FD00:EC2::254",
    "fe80::1",
    "febf:ffff::1",
    "fec0::1",
    "ff01::1",
    "ff02::1",
];

/// Returns the spellings of an IPv4 address that some parser accepts.
fn spellings([a, b, c, d]: [u8; 4]) -> Vec<String> {
    let all = u32::from_be_bytes([a, b, c, d]);
    let (last3, last2) = (all & 0xff_ffff, all & 0xffff);
    let (high, low) = (all >> 16, last2);
    let plain = format!("{a}.{b}.{c}.{d}");
    let wide: String = plain
        .chars()
        .map(|c| match c.to_digit(10) {
            Some(digit) => char::from_u32(0xff10 + digit).unwrap(),
            None => '。',
        })
        .collect();
    let percent: String = plain.bytes().map(|byte| format!("%{byte:02x}")).collect();
    vec![
        format!("{plain}."),
        format!("{all}"),
        format!("0x{all:x}"),
        format!("0X{all:08X}"),
        format!("0{all:o}"),
        format!("0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("000{a:o}.{b}.0x{c:X}.{d}"),
        format!("{a}.{last3}"),
        format!("{a}.{b}.{last2}"),
        format!("0x{a:x}.0{last3:o}"),
        plain.replace('.', "。"),
        plain.replace('.', "．"),
        wide,
        percent,
        format!("[::{plain}]"),
        format!("[::ffff:{plain}]"),
        format!("[::FFFF:{high:x}:{low:x}]"),
        format!("[0:0:0:0:0:ffff:{high:04x}:{low:04x}]"),
        format!("[::ffff:0:{plain}]"),
        format!("[64:ff9b::{plain}]"),
        format!("[64:ff9b:1::{plain}]"),
        format!("[2002:{high:x}:{low:x}::1]"),
        format!("[2001:0:{high:x}:{low:x}::1]"),
        format!("[2606:4700::5efe:{plain}]"),
        plain,
    ]
}

/// Returns URLs with an internal address in their text.
pub fn internal_urls(port: u16) -> Vec<String> {
    let v4 = INSIDE_V4.into_iter().flat_map(spellings);
    let v6 = INSIDE_V6.into_iter().map(|ip| format!("[{ip}]"));
    let hosts: Vec<_> = v4.chain(v6).collect();
    let odd = [
        format!("http://example.org@127.0.0.1:{port}/"),
        format!("http://example.org:80@127.0.0.1:{port}/"),
        format!("http://127.0.0.1:{port}@example.org:{port}/"),
        format!("http://example.org#@127.0.0.1:{port}/"),
        format!("http://127.0.0.1:{port}#@example.org/"),
        format!("http://127.0.0.1:{port}\\@example.org/"),
        format!("http://example.org\\@127.0.0.1:{port}/"),
        format!("http:\\\\127.0.0.1:{port}\\"),
        format!("http:127.0.0.1:{port}/"),
        format!("http:/127.0.0.1:{port}/"),
        format!("http:///127.0.0.1:{port}/"),
        format!("hTTp://127.0.0.1:{port}/"),
        format!("http://127.0.0.1:0{port}/"),
        format!("\u{1}http://127.0.0.1:{port}/"),
        format!("ht\ntp://127.0.\t0.1:{port}/"),
        format!("http://[::1%25lo]:{port}/"),
        format!("http://[::1%lo]:{port}/"),
        format!("http://[fe80::1%25eth0]:{port}/"),
        format!("http://127.0.0.1:{port}:80/"),
        format!("http://127.0.0.1 :{port}/"),
        format!("http://127.0.0.1%00.example.org:{port}/"),
        format!("http://127.0.0.1%2f.example.org:{port}/"),
        format!("http://①②⑦.⓪.⓪.①:{port}/"),
        format!("http://127%E3%80%820%E3%80%820%E3%80%821:{port}/"),
        format!("ws://127.0.0.1:{port}/"),
        format!("ftp://127.0.0.1:{port}/"),
        format!("gopher://127.0.0.1:{port}/_GET%20/"),
        format!("dict://127.0.0.1:{port}/"),
        "file:///etc/hosts".into(),
        "data:text/html,hello".into(),
        format!("jar:http://127.0.0.1:{port}/!/"),
        format!("view-source:http://127.0.0.1:{port}/"),
        format!("//127.0.0.1:{port}/"),
        format!("127.0.0.1:{port}"),
    ];
    let schemes = ["http", "https"];
    schemes
        .into_iter()
        .flat_map(|scheme| hosts.iter().map(move |host| format!("{scheme}://{host}:{port}/")))
        .chain(odd)
        .collect()
}

/// Returns names that resolve to an internal address, alone or among others.
pub fn internal_names(port: u16) -> Vec<(String, Vec<IpAddr>)> {
    let v4 = INSIDE_V4.map(|ip| IpAddr::from(Ipv4Addr::from(ip)));
    let mapped = INSIDE_V4.map(|ip| IpAddr::from(Ipv4Addr::from(ip).to_ipv6_mapped()));
    let v6 = INSIDE_V6.map(|ip| IpAddr::from(ip.parse::<Ipv6Addr>().unwrap()));
    let outside = IpAddr::from([1, 1, 1, 1]);
    let each = v4.into_iter().chain(mapped).chain(v6).enumerate();
    each.flat_map(|(n, inside)| {
        [
            (format!("http://alone-{n}.test:{port}/"), vec![inside]),
            (format!("http://first-{n}.test:{port}/"), vec![inside, outside]),
            (format!("https://last-{n}.test.:{port}/"), vec![outside, inside]),
        ]
    })
    .collect()
}
