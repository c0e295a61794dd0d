//! Parlor with the page *Inventory*: `scripts/xtask run --package parlor-inventory`.

use std::process::ExitCode;

use parlor::server::built_in_pages;
use parlor_inventory::{PAGE, server::Inventory};

fn main() -> ExitCode {
    parlor_ui::extension::add_pages([PAGE]);
    parlor::command_line::run(|parts| built_in_pages(parts).with_page(Inventory))
}
