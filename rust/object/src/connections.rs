//! HTTP clients, which stores with the same options share.
//!
//! A client reads the certificates of the system, which takes milliseconds, and keeps connections, so that the first
//! request of another store to the same server need not connect.

use std::sync::{Mutex, PoisonError};

use blizzarr_core::fork::PerProcess;
use object_store::client::{HttpClient, HttpConnector, ReqwestConnector};
use object_store::ClientOptions;

use crate::exchange::Noted;
use crate::settings::Settings;

/// How many clients are kept for other stores: those that were made last.
const KEPT: usize = 16;
/// What a client reads from the environment.
const ENVIRONMENT: [&str; 10] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// The clients of this process, and what each was made from. A forked child makes its own.
static CLIENTS: PerProcess<Mutex<Vec<(String, HttpClient)>>> = PerProcess::new(Mutex::default);

/// Makes the HTTP clients of a store, whose requests are noted.
#[derive(Debug)]
pub struct Connector {
    /// All that a user has configured: `ClientOptions` does not show all of it.
    configured: String,
}

impl Connector {
    pub fn new(settings: &Settings) -> Self {
        let environment = ENVIRONMENT.map(std::env::var_os);
        let options: Vec<_> = settings.client().collect();
        Connector { configured: format!("{options:?} {:?} {environment:?}", settings.headers) }
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let name = format!("{} {options:?}", self.configured);
        let clients = || CLIENTS.get().lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients().iter().find(|(of, _)| *of == name) {
            return Ok(client.clone());
        }
        let fresh = HttpClient::new(Noted(ReqwestConnector::default().connect(options)?));
        let mut kept = clients();
        // Dropped after the lock is free.
        let _oldest = (kept.len() >= KEPT).then(|| kept.remove(0));
        kept.push((name, fresh.clone()));
        drop(kept);
        Ok(fresh)
    }
}

#[cfg(test)]
mod tests {
    use object_store::RetryConfig;

    use super::*;
    use crate::runtime::provide_encryption;
    use crate::traffic::Protocol;

    fn clients_of(timeouts: &[&str]) -> usize {
        for timeout in timeouts {
            let settings = Settings {
                protocol: Protocol::Http,
                bucket: "https://example.org/".to_owned(),
                prefix: String::new(),
                options: vec![("timeout".to_owned(), (*timeout).to_owned())],
                headers: Vec::new(),
                retry: RetryConfig::default(),
                provider: None,
            };
            crate::settings::open(&settings).expect("a store");
        }
        CLIENTS.get().lock().expect("the clients").len()
    }

    #[test]
    fn stores_with_the_same_options_share_a_client() {
        provide_encryption();
        assert_eq!(clients_of(&["11s"; 5]), 1);
        assert_eq!(clients_of(&["11s", "12s"]), 2, "another timeout is that of another client");
        let many: Vec<String> = (20..60).map(|seconds| format!("{seconds}s")).collect();
        assert_eq!(clients_of(&many.iter().map(String::as_str).collect::<Vec<_>>()), KEPT);
    }
}
