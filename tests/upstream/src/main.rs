//! Runs the scripted server on its own, for end-to-end tests and the benchmark.

#![allow(clippy::print_stdout, reason = "its output is its URL")]

use clap::Parser;
use upstream::Upstream;

/// A scripted OpenAI-compatible server on 127.0.0.1.
#[derive(Parser)]
struct Options {
    /// The port; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Answer 401 to every other key than this one.
    #[arg(long)]
    require_key: Option<String>,
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let options = Options::parse();
    let upstream = Upstream::listen(options.port, options.require_key).await?;
    println!("upstream ready at http://{}", upstream.address());
    upstream.run().await;
    Ok(())
}
