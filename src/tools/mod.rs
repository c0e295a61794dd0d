//! What a model can do besides talking.

pub mod web;
