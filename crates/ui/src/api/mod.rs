//! The server functions: the typed requests of the page, their errors and their transport. Compiled for the server and the
//! browser.
//!
//! Here they are only declared. For each file there is a trait with the same functions, which the server implements
//! (`src/api` of the application): so the views depend on nothing of the server. The public contract for other clients is
//! in `src/http`.

use std::sync::Arc;

use leptos::prelude::use_context;

use parlor_protocol::{ApiError, ErrorCode};

/// Declares server functions: a codec of the arguments and the path below `/rpc`, then the function. `as` names the type of the
/// request where the function's name in camel case is taken.
///
/// The trait has the same functions. On the server each calls that of the trait's object in the context; in the browser it
/// sends a request.
macro_rules! server_functions {
    (
        trait $server:ident;
        $(
            $(#[doc = $doc:literal])+
            $codec:ident $path:literal $(as $request:ident)?
            fn $function:ident($($(#[$attribute:meta])* $argument:ident: $type:ty),* $(,)?) -> $output:ty;
        )+
    ) => {
        /// The server's part of these functions.
        #[async_trait::async_trait]
        pub trait $server: Send + Sync {
            $(
                $(#[doc = $doc])+
                async fn $function(&self, $($argument: $type),*) -> Result<$output, ApiError>;
            )+
        }

        $(
            $(#[doc = $doc])+
            #[server($(name = $request,)? prefix = "/rpc", endpoint = $path, protocol = super::codec::PageProtocol<$codec>)]
            pub async fn $function($($(#[$attribute])* $argument: $type),*) -> Result<$output, ApiError> {
                super::implementation::<dyn $server>()?.$function($($argument),*).await
            }
        )+
    };
}

mod codec;
pub mod columns;
pub mod data;
pub mod endpoints;
pub mod files;
pub mod literature;
pub mod personal;
pub mod projects;
pub mod reports;
pub mod rpc;
pub mod schedules;
pub mod sharing;

/// Returns the server's implementation of functions.
///
/// # Errors
///
/// If none is in the context: a function was called outside of a request.
pub fn implementation<T: ?Sized + Send + Sync + 'static>() -> Result<Arc<T>, ApiError> {
    use_context::<Arc<T>>()
        .ok_or_else(|| ApiError::new(ErrorCode::Internal, "Something went wrong. Try again."))
}
