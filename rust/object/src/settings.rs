//! From what a user has configured to a store of the `object_store` crate.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, AwsCredential};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::list::PaginatedListStore;
use object_store::{
    ClientOptions, CredentialProvider, Error, HeaderMap, HeaderValue, ObjectStore, Result, RetryConfig,
};
use tokio::sync::Mutex;

use crate::connections::Connector;
use crate::traffic::Protocol;

/// What a store is opened with.
pub struct Settings {
    pub protocol: Protocol,
    /// The bucket or container; of HTTP, the URL below which the values are.
    pub bucket: String,
    /// What comes before each key, without slashes at its ends.
    pub prefix: String,
    /// Options by their names in the `object_store` crate, like `region`.
    pub options: Vec<(String, String)>,
    /// Options of the HTTP client, like `timeout`.
    pub client: Vec<(String, String)>,
    /// Headers of every request.
    pub headers: Vec<(String, String)>,
    pub retry: RetryConfig,
    /// How long one request may take with all its repetitions, and how that is explained.
    pub total: (Duration, String),
    pub provider: Option<Provider>,
}

/// Credentials from a function of the user: members like `access_key_id`, and until when they may be used.
pub type Provided = (HashMap<String, String>, Option<SystemTime>);
pub type Provider = Arc<dyn Fn() -> std::result::Result<Provided, String> + Send + Sync>;

/// A store of the `object_store` crate.
pub struct Opened {
    pub store: Arc<dyn ObjectStore>,
    /// The same store, if it can be listed.
    pub listing: Option<Arc<dyn PaginatedListStore>>,
    /// Finds out whether there are credentials, where requests are signed.
    pub signed: Option<Signed>,
    /// The server and the bucket, if that is a server for S3's protocol other than the vendor's own.
    pub server: Option<String>,
}

pub type Signed = Box<dyn Fn() -> BoxFuture<'static, Result<()>> + Send + Sync>;

/// Applies options to a builder, whose kind of keys is `$key`.
macro_rules! configured {
    ($builder:expr, $key:ident, $settings:expr) => {{
        let mut builder = $builder.with_retry($settings.retry.clone()).with_http_connector(Connector::new($settings));
        if !$settings.headers.is_empty() {
            builder =
                builder.with_client_options(ClientOptions::new().with_default_headers(headers(&$settings.headers)?));
        }
        for (name, value) in &$settings.client {
            builder = builder.with_config($key::Client(name.parse()?), value);
        }
        for (name, value) in &$settings.options {
            builder = builder.with_config(name.parse::<$key>()?, value);
        }
        builder
    }};
}

/// Opens a store, which makes no requests yet.
pub fn open(settings: &Settings) -> Result<Opened> {
    match settings.protocol {
        Protocol::S3 => {
            let builder = AmazonS3Builder::from_env().with_bucket_name(&settings.bucket);
            let mut builder = configured!(builder, AmazonS3ConfigKey, settings);
            if let Some(provider) = &settings.provider {
                builder =
                    builder.with_credentials(Arc::new(Keeping { provider: provider.clone(), kept: Mutex::default() }));
            }
            let public = is_true(builder.get_config_value(&AmazonS3ConfigKey::SkipSignature));
            let endpoint = builder.get_config_value(&AmazonS3ConfigKey::Endpoint);
            let store = builder.build()?;
            let server = endpoint.map(|endpoint| format!("{endpoint} {}", settings.bucket));
            Ok(Opened { server, ..opened(store.credentials().clone(), store, public) })
        }
        Protocol::Gcs => {
            let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(&settings.bucket);
            let builder = configured!(builder, GoogleConfigKey, settings);
            let public = is_true(builder.get_config_value(&GoogleConfigKey::SkipSignature));
            let store = builder.build()?;
            Ok(opened(store.credentials().clone(), store, public))
        }
        Protocol::Azure => {
            let builder = MicrosoftAzureBuilder::from_env().with_container_name(&settings.bucket);
            let builder = configured!(builder, AzureConfigKey, settings);
            let public = is_true(builder.get_config_value(&AzureConfigKey::SkipSignature));
            let store = builder.build()?;
            Ok(opened(store.credentials().clone(), store, public))
        }
        Protocol::Http => {
            let mut client = ClientOptions::new().with_default_headers(headers(&settings.headers)?);
            for (name, value) in &settings.client {
                client = client.with_config(name.parse()?, value);
            }
            let builder = HttpBuilder::new().with_url(&settings.bucket).with_client_options(client);
            let builder = builder.with_retry(settings.retry.clone()).with_http_connector(Connector::new(settings));
            let store = builder.build()?;
            Ok(Opened { store: Arc::new(store), listing: None, signed: None, server: None })
        }
    }
}

fn opened<C>(
    credentials: Arc<dyn CredentialProvider<Credential = C>>,
    store: impl ObjectStore + PaginatedListStore,
    public: bool,
) -> Opened
where
    C: Send + Sync + 'static,
{
    let ask = move || -> BoxFuture<'static, Result<()>> {
        let credentials = credentials.clone();
        Box::pin(async move { credentials.get_credential().await.map(drop) })
    };
    let store = Arc::new(store);
    let signed: Option<Signed> = if public { None } else { Some(Box::new(ask)) };
    Opened { listing: Some(store.clone()), store, signed, server: None }
}

fn is_true(value: Option<String>) -> bool {
    value.is_some_and(|value| matches!(value.to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "on" | "y"))
}

fn headers(given: &[(String, String)]) -> Result<HeaderMap> {
    let wrong = |error: Box<dyn std::error::Error + Send + Sync>| Error::Generic { store: "headers", source: error };
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let name = http::HeaderName::try_from(name.as_str()).map_err(|error| wrong(Box::new(error)))?;
        let value = HeaderValue::from_str(value).map_err(|error| wrong(Box::new(error)))?;
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Credentials for S3 from a function of the user, which are kept until shortly before they expire.
struct Keeping {
    provider: Provider,
    kept: Mutex<Option<(Arc<AwsCredential>, Option<SystemTime>)>>,
}

/// Credentials are asked for anew so long before they expire.
const MARGIN: Duration = Duration::from_secs(60);

impl fmt::Debug for Keeping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("credentials of the user")
    }
}

#[async_trait]
impl CredentialProvider for Keeping {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> Result<Arc<AwsCredential>> {
        let mut kept = self.kept.lock().await;
        if let Some((credential, expires)) = &*kept {
            if expires.is_none_or(|expires| SystemTime::now() + MARGIN < expires) {
                return Ok(Arc::clone(credential));
            }
        }
        let provider = Arc::clone(&self.provider);
        let failed = |reason: String| Error::Generic { store: "credentials", source: reason.into() };
        let asked = tokio::task::spawn_blocking(move || provider()).await;
        let (mut found, expires) = asked.map_err(|error| failed(error.to_string()))?.map_err(failed)?;
        let mut member = |name: &str| found.remove(name).filter(|text| !text.is_empty());
        let (Some(key_id), Some(secret_key)) = (member("access_key_id"), member("secret_access_key")) else {
            return Err(failed("expected access_key_id and secret_access_key from the credential provider".to_owned()));
        };
        let credential = Arc::new(AwsCredential { key_id, secret_key, token: member("token") });
        *kept = Some((Arc::clone(&credential), expires));
        Ok(credential)
    }
}
