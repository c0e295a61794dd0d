//! Sessions under Landlock, where bubblewrap can't make namespaces.

use parlor_protocol::ConversationId;
use parlor_python::{PythonState, Sandbox};

use super::{Kind, Sessions};

async fn start() -> Sessions {
    Sessions::start(|settings| {
        Kind::Landlock.choose(settings);
        settings.python.folder_bytes = 40 << 20;
        settings.python.processes = 40;
    })
    .await
}

#[tokio::test]
async fn landlock_takes_the_place_of_bubblewrap() {
    let sessions = start().await;
    let PythonState::Found(_, sandbox) = sessions.python.state() else {
        panic!("there is no Python");
    };
    assert_eq!(sandbox, Sandbox::Landlock);
    let code = "import tempfile, pandas, numpy, subprocess
with tempfile.NamedTemporaryFile('w', suffix='.csv') as file:
    file.write('n\\n1\\n2\\n')
    file.flush()
    table = pandas.read_csv(file.name)
print(table.n.sum(), numpy.ones((50, 50)).sum(), subprocess.run(['echo', 'x'], capture_output=True).stdout)";
    let shown = sessions.text(ConversationId::new(), code).await;
    assert_eq!(shown, "3 2500.0 b'x\\n'");
}

#[tokio::test]
async fn files_have_a_limit_under_landlock() {
    let flood = "
for number in range(100):
    with open(f'fill-{number}', 'wb') as file:
        file.write(bytes(1 << 20))
while True:
    pass";
    // Files without a name count, too.
    let nameless = "
import os
files = []
for number in range(100):
    files.append(open('fill', 'wb'))
    files[-1].write(bytes(1 << 20))
    files[-1].flush()
    os.remove('fill')
while True:
    pass";
    for code in [flood, nameless] {
        let sessions = start().await;
        let error = sessions.run(ConversationId::new(), code).await.unwrap_err();
        assert!(error.to_string().contains("python.folder_bytes"), "{error}");
    }
}

#[tokio::test]
async fn processes_end_with_their_call_under_landlock() {
    let sessions = start().await;
    let session = ConversationId::new();
    let detach = "import subprocess, os
child = subprocess.Popen('setsid sleep 600 & sleep 600', shell=True)
print(child.poll())";
    assert_eq!(sessions.text(session, detach).await, "None");
    assert_eq!(sessions.text(session, "child.wait()").await, "-9");
    let many = "children = [subprocess.Popen(['sleep', '600']) for _ in range(60)]\nwhile True: pass";
    let error = sessions.run(session, many).await.unwrap_err();
    assert!(error.to_string().contains("python.processes"), "{error}");
    // All of them end with the session, so that another one has room.
    assert_eq!(sessions.text(ConversationId::new(), "6 * 7").await, "42");
}
