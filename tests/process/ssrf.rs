//! The address guard of web requests in a network namespace: the system's resolver, a DNS server that changes
//! its answers, and a listener on every private address, which must receive no connection.

use std::{
    collections::HashMap,
    fs,
    io::{Read, Write},
    net::{IpAddr, TcpListener, TcpStream, UdpSocket},
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use parlor_protocol::EndpointProblemCode;
use parlor_providers::{EndpointConfig, test_endpoint};
use parlor_web::{FetchError, WebClient, WebConfig};
use tokio::time::timeout;

use crate::write_faults::mount_namespace_command;

/// The time limit of the test: several hundred requests that are rejected at once.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// The variable that skips the test where no network namespace is available.
const SKIP_VARIABLE: &str = "PARLOR_TEST_NO_NAMESPACES";

/// The variable that is set inside the network namespace.
const NAMESPACE_VARIABLE: &str = "PARLOR_TEST_OWN_NETWORK";

/// A script that sets the addresses and the resolver of the network. It has no route to the outside.
const NETWORK_SETUP: &str = r#"set -e
ip link set lo up
for address in 10.0.0.1 100.100.100.200 169.254.169.254 172.16.0.1 192.168.1.1; do ip address add "$address/32" dev lo; done
ip -6 address add fd00::1/128 dev lo 2>/dev/null || true
ip route add unreachable default
ip -6 route add unreachable default 2>/dev/null || true
mount --bind "$0/resolv.conf" /etc/resolv.conf
if [ -e /etc/nsswitch.conf ]; then mount --bind "$0/nsswitch.conf" /etc/nsswitch.conf; fi
exec "$@""#;

/// Addresses of names that resolved to public addresses before.
const INTERNAL_ADDRESSES: [&str; 20] = [
    "127.0.0.1",
    "127.1.2.3",
    "0.0.0.0",
    "10.0.0.1",
    "100.100.100.200",
    "169.254.169.254",
    "172.16.0.1",
    "192.168.1.1",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::10.0.0.1",
    "2002:7f00:1::1",
    "2001:0:7f00:1::1",
    "fd00::1",
    "fe80::1",
];

#[tokio::test]
async fn internal_addresses_are_unreachable_by_any_spelling() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("resolv.conf"),
        "nameserver 127.0.0.1\noptions timeout:2 attempts:2\n",
    )
    .unwrap();
    fs::write(folder.path().join("nsswitch.conf"), "hosts: dns\n").unwrap();
    let own_network = || {
        let mut command = mount_namespace_command();
        command
            .args(["--net", "sh", "-c", NETWORK_SETUP])
            .arg(folder.path());
        command
    };
    if std::env::var_os(SKIP_VARIABLE).is_some() {
        println!("skipped: {SKIP_VARIABLE} is set");
        return;
    }
    let probe = own_network().arg("true").stderr(Stdio::piped()).output().await;
    let missing = match probe {
        Ok(probe) if probe.status.success() => None,
        Ok(probe) => Some(String::from_utf8_lossy(&probe.stderr).trim().replace('\n', "; ")),
        Err(error) => Some(error.to_string()),
    };
    if let Some(missing) = missing {
        panic!(
            "this test needs a network of its own: unshare, ip (iproute2) and the right to use them ({missing}); {SKIP_VARIABLE}=1 skips it"
        );
    }
    let mut command = own_network();
    command
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "ssrf::in_a_network_of_its_own",
            "--ignored",
            "--nocapture",
        ])
        .env(NAMESPACE_VARIABLE, "1")
        .kill_on_drop(true);
    let output = timeout(TEST_TIMEOUT, command.output())
        .await
        .expect("it ends")
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[tokio::test]
#[ignore = "needs a network of its own: `cargo test --features ssr --test process ssrf` makes one and runs it there"]
async fn in_a_network_of_its_own() {
    assert!(
        std::env::var_os(NAMESPACE_VARIABLE).is_some(),
        "it is run by the test above"
    );
    serve_dns();
    let inside = InternalListener::listen();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/ssrf/addresses.json");
    let addresses: Vec<String> = serde_json::from_str(&fs::read_to_string(fixture).unwrap()).unwrap();
    let addresses = addresses
        .into_iter()
        .map(|address| address.replace("PORT", &inside.port.to_string()));
    let addresses: Vec<String> = addresses.collect();
    let redirector = serve_redirects(addresses.clone());
    let client = WebClient::new(WebConfig {
        allowed_hosts: vec![
            format!("redirector.test:{redirector}"),
            format!("allowed.test:{}", inside.port),
        ],
        ..WebConfig::default()
    })
    .unwrap();
    let get = async |url: &str| client.get(url, |_| true).await;

    // The listener responds and names are resolved: without the guard, the rejected requests below would
    // arrive.
    let allowed = get(&format!("http://allowed.test:{}/", inside.port)).await;
    assert_eq!(allowed.unwrap().body, b"secret");
    assert_eq!(inside.new_connections(), 1);

    for (number, address) in addresses.iter().enumerate() {
        let response = get(address).await;
        assert!(response.is_err(), "{address}: {response:?}");
        let redirected = get(&format!("http://redirector.test:{redirector}/{number}")).await;
        assert!(redirected.is_err(), "to {address}: {redirected:?}");
    }
    assert_eq!(inside.new_connections(), 0);

    for (number, ip) in INTERNAL_ADDRESSES.iter().enumerate() {
        let [rebinds, both] =
            ["rebinds", "both"].map(|kind| format!("http://{kind}-{number}.test:{}/", inside.port));
        let first = get(&rebinds).await;
        assert!(
            matches!(first, Err(FetchError::Unreachable { .. })),
            "{ip} at first: {first:?}"
        );
        for url in [&rebinds, &rebinds, &both] {
            let response = get(url).await;
            assert!(
                matches!(response, Err(FetchError::InternalAddress(_))),
                "{ip} at {url}: {response:?}"
            );
        }
    }
    assert_eq!(inside.new_connections(), 0);
    own_keys_stay_outside(&inside, redirector).await;
}

/// Model servers for which people bring keys: their names may resolve to anything, but are not followed inside.
async fn own_keys_stay_outside(inside: &InternalListener, redirector: u16) {
    let found_at = async |url: String, is_guarded: bool| {
        let config = EndpointConfig {
            is_guarded,
            ..EndpointConfig::new("own", url)
        };
        test_endpoint(&config).await.problem.map(|problem| problem.code)
    };
    let port = inside.port;
    for (number, ip) in INTERNAL_ADDRESSES.iter().enumerate() {
        for kind in ["rebinds-own", "both"] {
            let url = format!("http://{kind}-{number}.test:{port}/v1");
            for _ in 0..3 {
                let found = found_at(url.clone(), true).await;
                assert!(found.is_some(), "{ip} at {url}");
            }
        }
    }
    let redirected = found_at(format!("http://redirector.test:{redirector}/0"), false).await;
    assert_eq!(redirected, Some(EndpointProblemCode::OtherServer));
    assert_eq!(inside.new_connections(), 0);

    // Without the guard it arrives.
    found_at(format!("http://allowed.test:{port}/v1"), false).await;
    assert_eq!(inside.new_connections(), 1);
}

/// A listener on every address of this network.
struct InternalListener {
    port: u16,
    accepted: Arc<AtomicUsize>,
    reported: AtomicUsize,
}

impl InternalListener {
    fn listen() -> Self {
        // Without IPv6, all of IPv4.
        let listener = TcpListener::bind("[::]:0")
            .or_else(|_| TcpListener::bind("0.0.0.0:0"))
            .unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(AtomicUsize::new(0));
        let hears = heard.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                hears.fetch_add(1, SeqCst);
                if let Ok(stream) = stream {
                    respond(stream, |_| response("200 OK", "", "secret"));
                }
            }
        });
        Self {
            port,
            accepted: heard,
            reported: AtomicUsize::new(0),
        }
    }

    /// Returns the number of connections since the last call. They are accepted in order, so all earlier ones
    /// are counted once this call's own connection is.
    fn new_connections(&self) -> usize {
        let mut own = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        own.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        own.read_to_end(&mut Vec::new()).unwrap();
        let heard = self.accepted.load(SeqCst);
        heard - self.reported.swap(heard, SeqCst) - 1
    }
}

/// Reads the head of a request and responds.
fn respond(mut stream: TcpStream, response: impl FnOnce(&str) -> String) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).is_ok() {
        head.push(byte[0]);
    }
    // The client may be gone.
    let _ = stream.write_all(response(&String::from_utf8_lossy(&head)).as_bytes());
}

fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}")
}

/// Starts a server that redirects `/7` to the seventh of these addresses. Returns its port.
fn serve_redirects(addresses: Vec<String>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().filter_map(Result::ok) {
            respond(stream, |head| {
                let number = head
                    .split(['/', ' '])
                    .nth(2)
                    .and_then(|number| number.parse::<usize>().ok());
                match number.and_then(|number| addresses.get(number)) {
                    // Addresses that a header cannot contain are skipped.
                    Some(address) => {
                        let location = address.replace(|c: char| c.is_ascii_control(), "");
                        response("302 Found", &format!("location: {location}\r\n"), "")
                    }
                    None => response("404 Not Found", "", ""),
                }
            });
        }
    });
    port
}

/// Runs a DNS server (RFC 1035) for the resolver of this network.
fn serve_dns() {
    let socket = UdpSocket::bind("127.0.0.1:53").unwrap();
    thread::spawn(move || {
        let mut asked = HashMap::new();
        let mut packet = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut packet) {
            if let Some(response) = dns_answer(&packet[..length], &mut asked) {
                socket.send_to(&response, from).unwrap();
            }
        }
    });
}

/// Returns the response to a query. `asked` counts the queries of each question.
fn dns_answer(query: &[u8], asked: &mut HashMap<(String, u16), usize>) -> Option<Vec<u8>> {
    const HEADER_BYTES: usize = 12;
    let (mut name, mut at) = (String::new(), HEADER_BYTES);
    while let length @ 1.. = usize::from(*query.get(at)?) {
        name.push_str(str::from_utf8(query.get(at + 1..=at + length)?).ok()?);
        name.push('.');
        at += length + 1;
    }
    // The end of the name, the type and the class.
    let question = query.get(HEADER_BYTES..at + 5)?;
    let kind = u16::from_be_bytes([*query.get(at + 1)?, *query.get(at + 2)?]);
    let times = asked.entry((name.to_lowercase(), kind)).or_default();
    let addresses = resolve_name(&name.to_lowercase(), *times);
    *times += 1;
    let records = addresses.into_iter().filter_map(|ip| match (kind, ip) {
        (1, IpAddr::V4(ip)) => Some(ip.octets().to_vec()),
        (28, IpAddr::V6(ip)) => Some(ip.octets().to_vec()),
        _ => None,
    });
    let records: Vec<_> = records.collect();
    let mut response = query.get(..2)?.to_vec();
    let count = u8::try_from(records.len()).ok()?;
    // A response, recursion available; one question, `count` answers.
    response.extend([0x81, 0x80, 0, 1, 0, count, 0, 0, 0, 0]);
    response.extend_from_slice(question);
    for record in records {
        // The question's name, its type, the class IN, a time to live of zero.
        response.extend([0xc0, 12]);
        response.extend(kind.to_be_bytes());
        response.extend([0, 1, 0, 0, 0, 0, 0, u8::try_from(record.len()).ok()?]);
        response.extend(record);
    }
    Some(response)
}

/// Returns the addresses of a name that was queried `before` times. Unknown names resolve to internal
/// addresses.
fn resolve_name(name: &str, before: usize) -> Vec<IpAddr> {
    let first = name.split('.').next().unwrap_or_default();
    let (kind, number) = first.rsplit_once('-').unwrap_or((first, ""));
    let inside = number
        .parse::<usize>()
        .ok()
        .and_then(|number| INTERNAL_ADDRESSES.get(number));
    let inside: IpAddr = inside.unwrap_or(&"127.0.0.1").parse().expect("an address");
    let outside: IpAddr = match inside {
        IpAddr::V4(_) => [93, 184, 216, 34].into(),
        IpAddr::V6(_) => "2606:2800:220:1::1".parse().expect("an address"),
    };
    match kind {
        "rebinds" | "rebinds-own" if before == 0 => vec![outside],
        "both" => vec![outside, inside],
        _ => vec![inside],
    }
}
