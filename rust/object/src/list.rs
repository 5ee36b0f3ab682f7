//! Listings, part by part.

use std::collections::HashSet;

use blizzarr_core::error::{Error, Kind, Result};
use object_store::list::PaginatedListOptions;
use object_store::path::Path;

use crate::client::{Client, Connected};
use crate::runtime::GoOn;

/// How many parts of a listing may be empty, one after the other.
const EMPTY: u32 = 1000;

/// Keys with the lengths of their values, and the prefixes of others, each with a slash at its end.
#[derive(Debug, Default)]
pub struct Listed {
    pub objects: Vec<(String, u64)>,
    pub prefixes: Vec<String>,
}

impl Client {
    /// All keys under a prefix, or what is directly under it, and names that no key can have, each of no length.
    pub fn list(&self, prefix: &str, direct: bool, go_on: GoOn<'_>) -> Result<Listed> {
        self.run(prefix, go_on, std::time::Duration::ZERO, move |store, prefix| async move {
            store.list(&prefix, direct).await
        })
    }
}

impl Connected {
    async fn list(&self, prefix: &str, direct: bool) -> Result<Listed> {
        let Some(store) = &self.opened.listing else {
            return Err(Error::new(Kind::Unsupported, "keys behind HTTP cannot be listed").at_key(prefix));
        };
        let above = if self.prefix.is_empty() { String::new() } else { format!("{}/", self.prefix) };
        let mut below = format!("{above}{prefix}");
        if !below.is_empty() && !below.ends_with('/') {
            below.push('/');
        }
        let (mut listing, mut known, mut token, mut empty) = (Listed::default(), HashSet::new(), None, 0);
        loop {
            let delimiter = direct.then_some("/".into());
            let options =
                PaginatedListOptions { delimiter, page_token: token.clone(), ..PaginatedListOptions::default() };
            let asked = Some(below.as_str()).filter(|below| !below.is_empty());
            let (part, log) = match self.request(|| store.list_paginated(asked, options.clone())).await {
                Ok(part) => part,
                Err(failure) => return Err(failure.at(prefix)),
            };
            let name = |path: &Path| path.as_ref().strip_prefix(&above).unwrap_or(path.as_ref()).to_owned();
            // A server may list more than it was asked for.
            let mut objects = part.result.objects;
            objects.retain(|object| object.location.as_ref().starts_with(&below));
            let (before, listed) =
                (known.len(), objects.len() + part.result.common_prefixes.len() + log.impossible.len());
            for impossible in log.impossible {
                let name = impossible.strip_prefix(&above).unwrap_or(&impossible).to_owned();
                if known.insert(name.clone()) {
                    listing.objects.push((name, 0));
                }
            }
            let mut prefixes: Vec<_> =
                part.result.common_prefixes.iter().map(|path| format!("{}/", name(path))).collect();
            for object in &objects {
                let (whole, key) = (object.location.as_ref(), name(&object.location));
                // A server that knows no delimiter lists what is further below, too.
                match whole[below.len()..].find('/').filter(|_| direct) {
                    Some(end) => {
                        prefixes.push(key[..=below.len() - above.len() + end].to_owned());
                        known.insert(key);
                    }
                    None if known.insert(key.clone()) => listing.objects.push((key, object.size)),
                    None => {}
                }
            }
            for prefix in prefixes {
                if known.insert(prefix.clone()) {
                    listing.prefixes.push(prefix);
                }
            }
            let Some(next) = part.page_token else { return Ok(listing) };
            empty = if listed > 0 { 0 } else { empty + 1 };
            if (listed > 0 && known.len() == before) || token.as_ref() == Some(&next) || empty == EMPTY {
                let reason =
                    format!("the listing has no end: after {before} keys, none of {listed} in its next part was new");
                return Err(Error::new(Kind::Store, reason).at_key(prefix));
            }
            token = Some(next);
        }
    }
}
