//! From what a user has configured to a store of the `object_store` crate.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, AwsCredential};
use object_store::azure::{AzureAccessKey, AzureConfigKey, AzureCredential, MicrosoftAzureBuilder};
use object_store::gcp::{GcpCredential, GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::list::PaginatedListStore;
use object_store::{
    ClientConfigKey, ClientOptions, CredentialProvider, Error, HeaderMap, HeaderValue, ObjectStore, Result, RetryConfig,
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
    /// Options by their names in the `object_store` crate, like `region`, and those of the HTTP client, like `timeout`.
    pub options: Vec<(String, String)>,
    /// Headers of every request.
    pub headers: Vec<(String, String)>,
    pub retry: RetryConfig,
    pub provider: Option<Provider>,
}

impl Settings {
    /// The options of the HTTP client.
    pub fn client(&self) -> impl Iterator<Item = (ClientConfigKey, &str)> {
        self.options.iter().filter_map(|(name, value)| Some((client_key(name)?, value.as_str())))
    }

    /// The name of the server, and of the bucket there; a server of HTTP has none.
    pub fn server(&self, opened: &Opened) -> String {
        match self.protocol {
            Protocol::Http => self.bucket.splitn(4, '/').take(3).collect::<Vec<_>>().join("/"),
            protocol => format!("{protocol:?} {:?} {:?} {}", opened.endpoint, opened.account, self.bucket),
        }
    }

    /// Whether requests are to be sent without encryption: the user has named a server like that, and not refused it.
    fn names_http(&self, endpoint: Option<&str>) -> bool {
        self.client().all(|(key, _)| key != ClientConfigKey::AllowHttp)
            && endpoint.is_some_and(|url| url.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://")))
    }

    /// How long one request may take with all its repetitions, and how that is explained.
    pub fn total(&self) -> Result<(Duration, String)> {
        let given = self.client().filter(|(key, _)| *key == ClientConfigKey::Timeout).last();
        let timeout = match given {
            Some((_, text)) => humantime::parse_duration(text)
                .map_err(|error| Error::Generic { store: "timeout", source: Box::new(error) })?,
            None => TIMEOUT,
        };
        let RetryConfig { backoff, max_retries, retry_timeout } = &self.retry;
        let (mut total, mut pause) = (timeout, backoff.init_backoff);
        // No attempt begins after `retry_timeout`.
        let most = *retry_timeout + timeout;
        for _ in 0..*max_retries {
            if total >= most {
                break;
            }
            total += timeout + pause.min(backoff.max_backoff);
            pause = pause.mul_f64(backoff.base.max(1.0)).min(backoff.max_backoff);
        }
        let attempts = match max_retries {
            0 => "one attempt".to_owned(),
            more => format!("{} attempts", more + 1),
        };
        let seconds = timeout.as_secs_f64();
        let text = format!("{attempts} of {seconds} s (timeout=, retry_config={{'max_retries': ...}})");
        Ok((total.min(most) + SLACK, text))
    }
}

/// What the `object_store` crate takes where nothing is given.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Where that crate gives up by itself, its error says more than ours.
const SLACK: Duration = Duration::from_millis(250);

fn client_key(name: &str) -> Option<ClientConfigKey> {
    let bare = ["aws_", "azure_", "google_"].into_iter().find_map(|kind| name.strip_prefix(kind)).unwrap_or(name);
    bare.parse().ok()
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
    pub renewals: Arc<Renewals>,
    /// The server, if that is another one than the vendor's own.
    pub endpoint: Option<String>,
    /// The account of Azure.
    pub account: Option<String>,
}

pub type Signed = Box<dyn Fn() -> BoxFuture<'static, Result<()>> + Send + Sync>;

/// Applies options to a builder, whose kind of keys is `$key` and whose kind of credentials is `$credential`.
macro_rules! configured {
    ($builder:expr, $key:ident, $credential:ident, $settings:expr, $renewals:expr) => {{
        let mut builder = $builder.with_retry($settings.retry.clone()).with_http_connector(Connector::new($settings));
        if !$settings.headers.is_empty() {
            builder =
                builder.with_client_options(ClientOptions::new().with_default_headers(headers(&$settings.headers)?));
        }
        for (name, value) in &$settings.options {
            let key = match client_key(name) {
                Some(key) => $key::Client(key),
                None => name.parse::<$key>()?,
            };
            builder = builder.with_config(key, value);
        }
        if let Some(provider) = &$settings.provider {
            let renewals = Arc::clone(&$renewals);
            let keeping = Keeping::<$credential> { provider: provider.clone(), kept: Mutex::default(), renewals };
            builder = builder.with_credentials(Arc::new(keeping));
        }
        builder
    }};
}

/// Opens a store, which makes no requests yet.
pub fn open(settings: &Settings) -> Result<Opened> {
    let renewals = Arc::<Renewals>::default();
    match settings.protocol {
        Protocol::S3 => {
            let builder = AmazonS3Builder::from_env().with_bucket_name(&settings.bucket);
            let builder = configured!(builder, AmazonS3ConfigKey, AwsCredential, settings, renewals);
            for key in [AmazonS3ConfigKey::AccessKeyId, AmazonS3ConfigKey::SecretAccessKey, AmazonS3ConfigKey::Token] {
                printable(key.as_ref(), &builder.get_config_value(&key).unwrap_or_default()).map_err(unfit)?;
            }
            let public = asks(builder.get_config_value(&AmazonS3ConfigKey::SkipSignature));
            let endpoint = builder
                .get_config_value(&AmazonS3ConfigKey::S3Endpoint)
                .or_else(|| builder.get_config_value(&AmazonS3ConfigKey::Endpoint));
            let builder = match settings.names_http(endpoint.as_deref()) {
                true => builder.with_allow_http(true),
                false => builder,
            };
            let store = builder.build()?;
            Ok(Opened { endpoint, renewals, ..opened(store.credentials().clone(), store, public) })
        }
        Protocol::Gcs => {
            let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(&settings.bucket);
            let builder = configured!(builder, GoogleConfigKey, GcpCredential, settings, renewals);
            let public = asks(builder.get_config_value(&GoogleConfigKey::SkipSignature));
            let endpoint = builder.get_config_value(&GoogleConfigKey::BaseUrl);
            let store = builder.build()?;
            Ok(Opened { endpoint, renewals, ..opened(store.credentials().clone(), store, public) })
        }
        Protocol::Azure => {
            let builder = MicrosoftAzureBuilder::from_env().with_container_name(&settings.bucket);
            let builder = configured!(builder, AzureConfigKey, AzureCredential, settings, renewals);
            let token = builder.get_config_value(&AzureConfigKey::Token).unwrap_or_default();
            printable("token", &token).map_err(unfit)?;
            let public = asks(builder.get_config_value(&AzureConfigKey::SkipSignature));
            let account = builder.get_config_value(&AzureConfigKey::AccountName);
            let endpoint = builder.get_config_value(&AzureConfigKey::Endpoint);
            let builder = match settings.names_http(endpoint.as_deref()) {
                true => builder.with_allow_http(true),
                false => builder,
            };
            let emulated = asks(builder.get_config_value(&AzureConfigKey::UseEmulator));
            let endpoint = if emulated { Some("emulator".to_owned()) } else { endpoint };
            let store = builder.build()?;
            Ok(Opened { endpoint, account, renewals, ..opened(store.credentials().clone(), store, public) })
        }
        Protocol::Http => {
            let mut client = ClientOptions::new().with_default_headers(headers(&settings.headers)?);
            for (name, value) in &settings.options {
                client = client.with_config(name.parse()?, value);
            }
            if settings.names_http(Some(&settings.bucket)) {
                client = client.with_allow_http(true);
            }
            let builder = HttpBuilder::new().with_url(&settings.bucket).with_client_options(client);
            let builder = builder.with_retry(settings.retry.clone()).with_http_connector(Connector::new(settings));
            let store = builder.build()?;
            let store = Arc::new(store);
            Ok(Opened { store, listing: None, signed: None, renewals, endpoint: None, account: None })
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
    let renewals = Arc::default();
    Opened { listing: Some(store.clone()), store, signed, renewals, endpoint: None, account: None }
}

fn asks(value: Option<String>) -> bool {
    value.is_some_and(|value| is_true(&value))
}

fn is_true(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "on" | "y")
}

/// Checks a credential that becomes part of a header, where the `object_store` crate would panic. Line breaks at the end of
/// files get into credentials.
fn printable(name: &str, value: &str) -> std::result::Result<(), String> {
    match value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        true => Ok(()),
        false => Err(format!("expected printable ASCII characters in {name}, found others, such as a line break")),
    }
}

fn unfit(reason: String) -> Error {
    Error::Generic { store: "credentials", source: reason.into() }
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

/// Counts the credentials that a function of the user has given, of which a server may say that they have expired: they were
/// revoked, a clock is wrong, or the function does not say until when they may be used.
#[derive(Debug, Default)]
pub struct Renewals {
    given: AtomicU64,
    expired: AtomicU64,
}

impl Renewals {
    /// How many credentials were given so far; none where no function gives them.
    pub fn given(&self) -> u64 {
        self.given.load(Ordering::Acquire)
    }

    /// Has the function asked anew, unless it was since it had given so many; whether there is such a function.
    pub fn expire(&self, given: u64) -> bool {
        self.expired.fetch_max(given, Ordering::AcqRel);
        given > 0
    }

    fn is_current(&self) -> bool {
        self.given() > self.expired.load(Ordering::Acquire)
    }
}

/// Credentials from a function of the user, which are kept until shortly before they expire, or a server says that they have.
struct Keeping<C> {
    provider: Provider,
    kept: Mutex<Option<(Arc<C>, Option<SystemTime>)>>,
    renewals: Arc<Renewals>,
}

/// Credentials are asked for anew so long before they expire.
const MARGIN: Duration = Duration::from_secs(60);

impl<C> fmt::Debug for Keeping<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("credentials of the user")
    }
}

/// Credentials that can be made of members, or else which members are expected.
trait FromMembers: Sized {
    fn from_members(members: &mut HashMap<String, String>) -> std::result::Result<Self, String>;
}

fn take(members: &mut HashMap<String, String>, name: &str) -> Option<String> {
    members.remove(name).filter(|text| !text.is_empty())
}

impl FromMembers for AwsCredential {
    fn from_members(members: &mut HashMap<String, String>) -> std::result::Result<Self, String> {
        let (Some(key_id), Some(secret_key)) = (take(members, "access_key_id"), take(members, "secret_access_key"))
        else {
            return Err("access_key_id and secret_access_key".to_owned());
        };
        Ok(AwsCredential { key_id, secret_key, token: take(members, "token") })
    }
}

impl FromMembers for GcpCredential {
    fn from_members(members: &mut HashMap<String, String>) -> std::result::Result<Self, String> {
        take(members, "token").map(|bearer| GcpCredential { bearer }).ok_or_else(|| "token".to_owned())
    }
}

impl FromMembers for AzureCredential {
    fn from_members(members: &mut HashMap<String, String>) -> std::result::Result<Self, String> {
        if let Some(key) = take(members, "access_key") {
            let key = AzureAccessKey::try_new(&key).map_err(|_| "an access_key in base64".to_owned())?;
            return Ok(AzureCredential::AccessKey(key));
        }
        if let Some(signature) = take(members, "sas_token") {
            let signature = signature.trim_start_matches('?').as_bytes();
            return Ok(AzureCredential::SASToken(form_urlencoded::parse(signature).into_owned().collect()));
        }
        let token = take(members, "token").map(AzureCredential::BearerToken);
        token.ok_or_else(|| "access_key, sas_token or token".to_owned())
    }
}

#[async_trait]
impl<C: FromMembers + Send + Sync> CredentialProvider for Keeping<C> {
    type Credential = C;

    async fn get_credential(&self) -> Result<Arc<C>> {
        let mut kept = self.kept.lock().await;
        if let Some((credential, expires)) = &*kept {
            if self.renewals.is_current() && expires.is_none_or(|expires| SystemTime::now() + MARGIN < expires) {
                return Ok(Arc::clone(credential));
            }
        }
        let provider = Arc::clone(&self.provider);
        let asked = tokio::task::spawn_blocking(move || provider()).await;
        let (mut members, expires) = asked.map_err(|error| unfit(error.to_string()))?.map_err(unfit)?;
        for (name, value) in &members {
            printable(name, value).map_err(unfit)?;
        }
        let made = C::from_members(&mut members);
        let credential = Arc::new(made.map_err(|what| unfit(format!("expected {what} from the credential provider")))?);
        *kept = Some((Arc::clone(&credential), expires));
        self.renewals.given.fetch_add(1, Ordering::AcqRel);
        Ok(credential)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(options: &[(&str, &str)], retry: RetryConfig) -> Settings {
        let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let (bucket, prefix) = ("bucket".to_owned(), String::new());
        Settings { protocol: Protocol::S3, bucket, prefix, options, headers: Vec::new(), retry, provider: None }
    }

    #[test]
    fn how_long_all_attempts_may_take_together() {
        let three = RetryConfig { max_retries: 3, ..RetryConfig::default() };
        let (total, limit) = settings(&[("timeout", "2s")], three).total().expect("a limit");
        // Pauses of 0.1, 0.2 and 0.4 seconds.
        assert!((total.as_secs_f64() - 8.95).abs() < 1e-6, "{total:?}");
        assert!(limit.starts_with("4 attempts of 2 s"), "{limit}");
        let (total, _) = settings(&[], RetryConfig::default()).total().expect("a limit");
        assert!((total.as_secs_f64() - 210.25).abs() < 1e-6, "{total:?}");
        assert!(settings(&[("timeout", "soon")], RetryConfig::default()).total().is_err());
    }

    #[test]
    fn servers_without_encryption() {
        let names = |options: &[(&str, &str)], url| settings(options, RetryConfig::default()).names_http(url);
        assert!(names(&[], Some("HTTP://localhost")));
        assert!(!names(&[], Some("https://localhost")));
        assert!(!names(&[("aws_allow_http", "false")], Some("http://localhost")));
    }

    #[test]
    fn credentials_that_have_expired_for_many_requests_are_asked_for_once() {
        let renewals = Renewals::default();
        assert!(!renewals.expire(renewals.given()));
        renewals.given.fetch_add(1, Ordering::AcqRel);
        assert!(renewals.is_current());
        assert!(renewals.expire(1) && !renewals.is_current());
        renewals.given.fetch_add(1, Ordering::AcqRel);
        assert!(renewals.expire(1) && renewals.is_current());
    }

    #[test]
    fn credentials_of_azure() {
        let of = |name: &str, value: &str| {
            AzureCredential::from_members(&mut HashMap::from([(name.to_owned(), value.to_owned())]))
        };
        let signature = vec![("sv".to_owned(), "1".to_owned()), ("sig".to_owned(), "a+b".to_owned())];
        assert_eq!(of("sas_token", "?sv=1&sig=a%2Bb"), Ok(AzureCredential::SASToken(signature)));
        assert_eq!(of("token", "t"), Ok(AzureCredential::BearerToken("t".to_owned())));
        assert!(of("access_key", "no base64!").is_err());
        assert!(of("other", "x").is_err());
    }
}
