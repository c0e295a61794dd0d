use super::*;

fn open_policy() -> ReconnectPolicy {
    let mut policy = ReconnectPolicy::default();
    assert_eq!(
        policy.step(ConnectionEvent::Start, 0.0, 0.0),
        Some(ConnectionEffect::Connect)
    );
    assert_eq!(policy.step(ConnectionEvent::Opened, 10.0, 0.0), None);
    policy
}

#[test]
fn backs_off_until_an_event_arrives() {
    let mut policy = open_policy();
    let mut now = 10.0;
    let mut delays = Vec::new();
    for _ in 0..8 {
        policy.step(ConnectionEvent::Closed, now, 1.0);
        let until = policy.deadline().unwrap();
        delays.push(until - now);
        assert_eq!(policy.step(ConnectionEvent::Tick, until - 1.0, 1.0), None);
        assert_eq!(
            policy.step(ConnectionEvent::Tick, until, 1.0),
            Some(ConnectionEffect::Connect)
        );
        assert_eq!(policy.status(), ConnectionStatus::Disconnected);
        now = until;
    }
    assert_eq!(
        delays,
        [400.0, 800.0, 1600.0, 3200.0, 6400.0, 12_800.0, 15_000.0, 15_000.0]
    );
    policy.step(ConnectionEvent::Opened, now, 0.0);
    policy.step(ConnectionEvent::Received, now, 0.0);
    policy.reset_failures();
    assert_eq!(policy.status(), ConnectionStatus::Connected);
    policy.step(ConnectionEvent::Closed, now, 0.0);
    assert_eq!(policy.deadline(), Some(now + 200.0), "jitter halves it at most");
}

#[test]
fn useless_streams_keep_the_backoff() {
    let mut policy = open_policy();
    let (mut now, mut delays) = (10.0, Vec::new());
    for _ in 0..8 {
        // The first heartbeat, and a notice that ends the stream.
        policy.step(ConnectionEvent::Received, now, 1.0);
        policy.step(ConnectionEvent::Received, now + 1.0, 1.0);
        policy.step(ConnectionEvent::Closed, now + 2.0, 1.0);
        let until = policy.deadline().unwrap();
        delays.push(until - now - 2.0);
        if delays.len() > 1 {
            let answered = policy.step(ConnectionEvent::Online, now + 3.0, 1.0);
            assert_eq!(answered, None, "responses to other requests are no news");
        }
        now = until;
        policy.step(ConnectionEvent::Tick, now, 1.0);
        policy.step(ConnectionEvent::Opened, now, 1.0);
    }
    assert_eq!(
        delays,
        [400.0, 800.0, 1600.0, 3200.0, 6400.0, 12_800.0, 15_000.0, 15_000.0]
    );
    policy.step(ConnectionEvent::Received, now + 15_000.0, 1.0);
    policy.step(ConnectionEvent::Closed, now + 15_001.0, 1.0);
    assert_eq!(policy.deadline(), Some(now + 15_401.0), "a second heartbeat");
}

#[test]
fn backs_off_between_resyncs() {
    let mut policy = open_policy();
    let (mut now, mut delays) = (10.0, Vec::new());
    for _ in 0..8 {
        policy.step(ConnectionEvent::Received, now, 1.0);
        policy.step(ConnectionEvent::Pause, now, 1.0);
        let until = match policy.step(ConnectionEvent::Start, now, 1.0) {
            Some(_) => now,
            None => policy.deadline().unwrap(),
        };
        delays.push(until - now);
        assert_eq!(policy.step(ConnectionEvent::Online, now, 1.0), None);
        now = until;
        policy.step(ConnectionEvent::Tick, now, 1.0);
        policy.step(ConnectionEvent::Opened, now, 1.0);
    }
    assert_eq!(
        delays,
        [0.0, 800.0, 1600.0, 3200.0, 6400.0, 12_800.0, 15_000.0, 15_000.0]
    );
    policy.reset_failures();
    policy.step(ConnectionEvent::Pause, now, 1.0);
    assert_eq!(
        policy.step(ConnectionEvent::Start, now, 1.0),
        Some(ConnectionEffect::Connect)
    );
}

#[test]
fn damaged_log_is_asked_for_rarely() {
    let mut policy = open_policy();
    policy.step(ConnectionEvent::Received, 20.0, 1.0);
    assert_eq!(
        policy.step(ConnectionEvent::LogDamaged, 20.0, 1.0),
        Some(ConnectionEffect::Disconnect)
    );
    assert_eq!(
        (policy.deadline(), policy.status()),
        (Some(60_020.0), ConnectionStatus::LogDamaged)
    );
    for input in [
        ConnectionEvent::Closed,
        ConnectionEvent::Online,
        ConnectionEvent::Tick,
    ] {
        assert_eq!(policy.step(input, 1000.0, 1.0), None);
    }
    assert_eq!(
        policy.step(ConnectionEvent::Visible, 2000.0, 1.0),
        Some(ConnectionEffect::Connect)
    );
}

#[test]
fn backs_off_when_streams_end_at_once() {
    let mut policy = open_policy();
    policy.step(ConnectionEvent::Closed, 10.0, 1.0);
    policy.step(ConnectionEvent::Tick, 410.0, 1.0);
    policy.step(ConnectionEvent::Opened, 420.0, 1.0);
    policy.step(ConnectionEvent::Closed, 420.0, 1.0);
    assert_eq!(policy.deadline(), Some(1220.0));
}

#[test]
fn reconnects_after_silence() {
    let mut policy = open_policy();
    policy.step(ConnectionEvent::Received, 15_000.0, 0.0);
    assert_eq!(policy.deadline(), Some(55_000.0));
    assert_eq!(policy.step(ConnectionEvent::Tick, 54_999.0, 0.0), None);
    assert_eq!(
        policy.step(ConnectionEvent::Tick, 55_000.0, 0.0),
        Some(ConnectionEffect::Connect)
    );
    assert_eq!(
        policy.step(ConnectionEvent::Tick, 70_000.0, 0.0),
        Some(ConnectionEffect::Disconnect),
        "no response either"
    );
    assert_eq!(policy.status(), ConnectionStatus::Disconnected);
}

#[test]
fn hidden_tab_disconnects_and_reconnects_when_visible() {
    let mut policy = open_policy();
    policy.step(ConnectionEvent::Hidden, 1000.0, 0.0);
    assert_eq!(policy.deadline(), Some(1500.0));
    assert_eq!(
        policy.step(ConnectionEvent::Tick, 2000.0, 0.0),
        Some(ConnectionEffect::Disconnect)
    );
    assert_eq!(
        (policy.deadline(), policy.status()),
        (None, ConnectionStatus::Idle)
    );
    assert_eq!(
        policy.step(ConnectionEvent::Closed, 2001.0, 0.0),
        None,
        "the close that it caused itself"
    );
    assert_eq!(policy.step(ConnectionEvent::Online, 2002.0, 0.0), None);
    assert_eq!(
        policy.step(ConnectionEvent::Visible, 90_000.0, 0.0),
        Some(ConnectionEffect::Connect)
    );
}

#[test]
fn hidden_tab_with_lock_stays_connected() {
    let mut policy = open_policy();
    policy.step(ConnectionEvent::Hidden, 1000.0, 0.0);
    policy.step(ConnectionEvent::LockGranted, 1100.0, 0.0);
    assert_eq!(policy.step(ConnectionEvent::Tick, 2000.0, 0.0), None);
    assert_eq!(policy.status(), ConnectionStatus::Connected);

    let mut policy = open_policy();
    policy.step(ConnectionEvent::Hidden, 1000.0, 0.0);
    policy.step(ConnectionEvent::Tick, 2000.0, 0.0);
    assert_eq!(
        policy.step(ConnectionEvent::LockGranted, 60_000.0, 0.0),
        Some(ConnectionEffect::Connect),
        "the lock was granted"
    );
    policy.step(ConnectionEvent::Opened, 60_010.0, 0.0);
    policy.step(ConnectionEvent::Visible, 61_000.0, 0.0);
    policy.step(ConnectionEvent::Hidden, 62_000.0, 0.0);
    assert_eq!(
        policy.step(ConnectionEvent::Tick, 63_000.0, 0.0),
        Some(ConnectionEffect::Disconnect),
        "the lock is released when the tab is visible"
    );
}

#[test]
fn briefly_hidden_tab_keeps_its_stream() {
    let mut policy = open_policy();
    policy.step(ConnectionEvent::Hidden, 1000.0, 0.0);
    assert_eq!(policy.step(ConnectionEvent::Visible, 1400.0, 0.0), None);
    assert_eq!(policy.step(ConnectionEvent::Tick, 2000.0, 0.0), None);
    assert_eq!(policy.status(), ConnectionStatus::Connected);
}

#[test]
fn background_tab_waits_for_the_lock() {
    let mut policy = ReconnectPolicy::default();
    policy.step(ConnectionEvent::Hidden, 0.0, 0.0);
    assert_eq!(policy.step(ConnectionEvent::Start, 1.0, 0.0), None);
    assert_eq!(
        (policy.deadline(), policy.status()),
        (None, ConnectionStatus::Idle)
    );
    assert_eq!(
        policy.step(ConnectionEvent::Visible, 5000.0, 0.0),
        Some(ConnectionEffect::Connect)
    );

    let mut policy = ReconnectPolicy::default();
    policy.step(ConnectionEvent::Hidden, 0.0, 0.0);
    policy.step(ConnectionEvent::Start, 1.0, 0.0);
    assert_eq!(
        policy.step(ConnectionEvent::LockGranted, 5.0, 0.0),
        Some(ConnectionEffect::Connect)
    );
}

#[test]
fn reconnects_silent_stream_when_network_returns() {
    let mut policy = open_policy();
    assert_eq!(
        policy.step(ConnectionEvent::Online, 12_000.0, 0.0),
        None,
        "bytes arrived a moment ago"
    );
    assert_eq!(
        policy.step(ConnectionEvent::Online, 19_000.0, 0.0),
        Some(ConnectionEffect::Connect)
    );
}

#[test]
fn reports_a_lost_network_at_once() {
    let mut policy = open_policy();
    assert_eq!(
        policy.step(ConnectionEvent::Offline, 20.0, 0.0),
        Some(ConnectionEffect::Connect)
    );
    assert_eq!(
        policy.status(),
        ConnectionStatus::Idle,
        "it may be another network"
    );
    policy.step(ConnectionEvent::Closed, 30.0, 0.0);
    assert_eq!(policy.status(), ConnectionStatus::Disconnected);
    assert_eq!(policy.step(ConnectionEvent::Offline, 40.0, 0.0), None);
    assert_eq!(
        policy.step(ConnectionEvent::Online, 50.0, 0.0),
        Some(ConnectionEffect::Connect)
    );
}

#[test]
fn reconnects_at_once_after_waking() {
    let mut policy = open_policy();
    policy.step(ConnectionEvent::Closed, 10.0, 1.0);
    assert_eq!(
        policy.step(ConnectionEvent::Online, 20.0, 0.0),
        Some(ConnectionEffect::Connect)
    );
    policy.step(ConnectionEvent::Opened, 30.0, 0.0);
    assert_eq!(
        policy.step(ConnectionEvent::Visible, 3_600_000.0, 0.0),
        Some(ConnectionEffect::Connect),
        "slept for an hour"
    );
}

#[test]
fn stays_disconnected_while_resyncing() {
    let mut policy = open_policy();
    assert_eq!(
        policy.step(ConnectionEvent::Pause, 50.0, 0.0),
        Some(ConnectionEffect::Disconnect)
    );
    for input in [
        ConnectionEvent::Closed,
        ConnectionEvent::Online,
        ConnectionEvent::Visible,
        ConnectionEvent::Tick,
        ConnectionEvent::Received,
    ] {
        assert_eq!(policy.step(input, 99_000.0, 0.0), None);
    }
    assert_eq!(
        policy.step(ConnectionEvent::Start, 99_000.0, 0.0),
        Some(ConnectionEffect::Connect)
    );
}
