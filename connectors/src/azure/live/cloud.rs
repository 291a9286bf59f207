//! Azure's clouds: where one logs in, where resources are managed.

use crate::http::HttpError;

/// Where a cloud's services are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloudPlace {
    /// Where tokens come from.
    pub authority: String,
    /// Azure Resource Manager.
    pub manager: String,
    /// Whom tokens are for, without `/.default`.
    pub audience: String,
}

/// Names as `AZURE_ENVIRONMENT` has them and as `az cloud list` does; authority,
/// manager, audience.
const CLOUDS: [([&str; 2], [&str; 3]); 3] = [
    (
        ["AzurePublicCloud", "AzureCloud"],
        [
            "https://login.microsoftonline.com",
            "https://management.azure.com",
            "https://management.azure.com",
        ],
    ),
    (
        ["AzureUSGovernmentCloud", "AzureUSGovernment"],
        [
            "https://login.microsoftonline.us",
            "https://management.usgovcloudapi.net",
            "https://management.core.usgovcloudapi.net",
        ],
    ),
    (
        ["AzureChinaCloud", "AzureChina"],
        [
            "https://login.chinacloudapi.cn",
            "https://management.chinacloudapi.cn",
            "https://management.core.chinacloudapi.cn",
        ],
    ),
];

impl Default for CloudPlace {
    fn default() -> Self {
        Self::of(CLOUDS[0].1)
    }
}

impl CloudPlace {
    fn of([authority, manager, audience]: [&str; 3]) -> Self {
        Self {
            authority: authority.to_owned(),
            manager: manager.to_owned(),
            audience: audience.to_owned(),
        }
    }

    /// A cloud by name, else by where one logs in to it; the public one where
    /// neither is said. Whatever is given beside overrides what is known.
    ///
    /// # Errors
    /// When there is no cloud of that name, or where an authority of one's own is
    /// given and not what it is for.
    pub(super) fn find(
        name: Option<&str>,
        authority: Option<&str>,
        manager: Option<&str>,
        audience: Option<&str>,
    ) -> Result<Self, HttpError> {
        let bare = |url: &str| url.trim().trim_end_matches('/').to_owned();
        let authority = authority.map(bare);
        let mut place = if let Some(name) = name {
            let known = CLOUDS
                .iter()
                .find(|(names, _)| names.iter().any(|known| known.eq_ignore_ascii_case(name)));
            let (_, place) = known.ok_or_else(|| {
                let all: Vec<&str> = CLOUDS.iter().map(|(names, _)| names[0]).collect();
                HttpError::BadRequest(format!(
                    "{name:?} (AZURE_ENVIRONMENT) is not an Azure cloud; the clouds are {}",
                    all.join(", ")
                ))
            })?;
            Self::of(*place)
        } else if let Some(authority) = &authority {
            let known = CLOUDS
                .iter()
                .find(|(_, place)| place[0].eq_ignore_ascii_case(authority));
            match (known, manager) {
                (Some((_, place)), _) => Self::of(*place),
                // A token must not be sent where it does not belong.
                (None, None) => {
                    return Err(HttpError::BadRequest(format!(
                        "AZURE_AUTHORITY_HOST is {authority}, of a cloud that is not known: set AZURE_RESOURCE_MANAGER_URL, too"
                    )));
                }
                (None, Some(manager)) => Self::of([authority, manager, manager]),
            }
        } else {
            Self::default()
        };
        if let Some(authority) = authority {
            place.authority = authority;
        }
        if let Some(manager) = manager {
            place.manager = bare(manager);
        }
        if let Some(audience) = audience {
            place.audience = bare(audience);
        }
        place.audience = bare(&place.audience);
        Ok(place)
    }

    /// The scope of a token.
    pub(super) fn scope(&self) -> String {
        format!("{}/.default", self.audience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clouds_are_known_by_name_and_by_authority() {
        let place = CloudPlace::find(None, None, None, None).unwrap();
        assert_eq!(place.manager, "https://management.azure.com");
        assert_eq!(place.scope(), "https://management.azure.com/.default");
        let named = CloudPlace::find(Some("azurechinacloud"), None, None, None).unwrap();
        assert_eq!(named.manager, "https://management.chinacloudapi.cn");
        let host = Some("https://login.microsoftonline.us/");
        let by_host = CloudPlace::find(None, host, None, None).unwrap();
        assert_eq!(by_host.manager, "https://management.usgovcloudapi.net");
        assert_eq!(
            by_host.scope(),
            "https://management.core.usgovcloudapi.net/.default"
        );
        // A private endpoint takes tokens of its cloud.
        let private = CloudPlace::find(None, host, Some("https://arm.corp/"), None).unwrap();
        assert_eq!(private.manager, "https://arm.corp");
        assert_eq!(
            private.audience,
            "https://management.core.usgovcloudapi.net"
        );
    }

    #[test]
    fn a_cloud_of_ones_own_says_where_its_manager_is() {
        let own = Some("https://login.stack.corp");
        let wrong = CloudPlace::find(None, own, None, None).unwrap_err();
        assert!(wrong.to_string().contains("AZURE_RESOURCE_MANAGER_URL"));
        let place = CloudPlace::find(None, own, Some("https://arm.stack.corp"), None).unwrap();
        assert_eq!(place.audience, "https://arm.stack.corp");
        let wrong = CloudPlace::find(Some("mars"), None, None, None).unwrap_err();
        assert!(wrong.to_string().contains("AzureUSGovernmentCloud"));
    }
}
