//! Prints the page for each step, one a line.

#![allow(clippy::print_stdout, reason = "the output of a program")]

fn main() {
    for page in elements_page::render() {
        println!("{page}");
    }
}
