//! Calls that exceed a limit, and kernels that break the protocol: they end themselves, or their session.

use std::time::Duration;

use parlor_protocol::ConversationId;
use parlor_tools::SessionKeeper;

use super::Sessions;

/// Writes to each socket of the kernel the beginning of a frame of 2^60 bytes.
const HUGE_FRAME: &str = "
import os, stat, time
for name in os.listdir('/proc/self/fd'):
    try:
        if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
            os.write(int(name), b'\\x02' + (1 << 60).to_bytes(8, 'big'))
    except OSError:
        pass
time.sleep(60)";

#[tokio::test]
async fn hostile_kernel_ends_only_its_own_session() {
    let sessions = Sessions::start(|_| {}).await;
    let (good, bad) = (ConversationId::new(), ConversationId::new());
    sessions.text(good, "x = 1").await;
    let error = sessions.run(bad, HUGE_FRAME).await.unwrap_err().to_string();
    assert!(
        error.contains("session has ended: it announced a message of 1152921504606846976 bytes"),
        "{error}"
    );
    assert_eq!(sessions.text(good, "x").await, "1");
    assert_eq!(sessions.text(bad, "2").await, "2");
}

#[tokio::test]
async fn long_calls_are_interrupted() {
    let sessions = Sessions::start(|settings| settings.python.call_timeout = Duration::from_secs(3)).await;
    let session = ConversationId::new();
    sessions.text(session, "x = 1").await;
    let error = sessions
        .run(session, "while True: pass")
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("longer than 3 seconds and was interrupted"),
        "{error}"
    );
    assert_eq!(sessions.text(session, "x").await, "1");
    let stubborn = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass";
    let error = sessions.run(session, stubborn).await.unwrap_err().to_string();
    assert!(error.contains("did not stop"), "{error}");
    // Its variables are gone, which the next call is told. A conversation restores them first.
    let error = sessions.run(session, "x").await.unwrap_err().to_string();
    assert!(error.contains("did not stop"), "{error}");
    assert!(sessions.text(session, "x").await.contains("NameError"));
}

#[tokio::test]
async fn output_is_plain_and_limited() {
    let sessions = Sessions::start(|settings| settings.python.output_bytes = 1000).await;
    let session = ConversationId::new();
    let text = sessions
        .text(session, "for n in range(200_000): print('x' * 100)")
        .await;
    assert!(
        text.len() < 1200 && text.contains("20199000 more bytes of text were left out"),
        "{text}"
    );
    let escapes = r"print('\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b]52;c;aGk=\x07 10%\r100%')";
    assert_eq!(sessions.text(session, escapes).await, "100%");
    // Markup is never passed on as such.
    let html = "from IPython.display import HTML\nHTML('<script>alert(1)</script>')";
    let text = sessions.text(session, html).await;
    assert!(text.contains("IPython.core.display.HTML object"), "{text}");
    let error = sessions.text(session, "def f(n): return f(n + 1)\nf(0)").await;
    assert!(
        error.contains("RecursionError") && error.lines().count() < 40,
        "{error}"
    );
}

#[tokio::test]
async fn memory_and_processes_are_limited_together() {
    let sessions = Sessions::start(|settings| {
        settings.python.memory_bytes = 1 << 30;
        settings.python.processes = 100;
    })
    .await;
    let session = ConversationId::new();
    let error = sessions.text(session, "x = bytearray(4 << 30)").await;
    assert!(error.ends_with("MemoryError"), "{error}");
    let fill = "import os, time
for n in range(8):
    if os.fork() == 0:
        x = b'x' * (250 << 20)
        time.sleep(60)
        os._exit(0)
time.sleep(60)";
    let error = sessions.run(session, fill).await.unwrap_err().to_string();
    assert!(error.contains("python.memory_bytes"), "{error}");
    sessions.python.end(session);
    let bomb = "import os
while True:
    try:
        os.fork()
    except OSError:
        pass";
    let error = sessions.run(session, bomb).await.unwrap_err().to_string();
    assert!(error.contains("python.processes"), "{error}");
    assert_eq!(sessions.text(session, "1").await, "1");
}
