//! Parlor with the page *Inventory*: `cargo run -p parlor-inventory`.

use std::{
    error::Error,
    io::{Write, stdout},
};

use parlor::server::{Server, built_in_pages, built_in_tools};
use parlor_base::settings::{Overrides, Settings};
use parlor_inventory::{PAGE, server::Inventory};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    parlor_ui::extension::add_pages([PAGE]);
    let settings = Settings::read(&Overrides::default(), |name| std::env::var(name).ok())?;
    let listener = TcpListener::bind(settings.server.addr).await?;
    let pages = |parts: &_| built_in_pages(parts).with_page(Inventory);
    let server = Server::open_with(settings, built_in_tools, pages).await?;
    writeln!(
        stdout(),
        "Parlor is ready at http://{}/inventory",
        listener.local_addr()?
    )?;
    let stop = async {
        // Without it, only a signal ends the program.
        let _ = tokio::signal::ctrl_c().await;
    };
    server.serve(listener, stop).await?;
    Ok(())
}
