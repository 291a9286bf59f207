//! Azure Resource Manager as the contract has it.

use serde_json::{Value, json};

use super::{NOON, SUBSCRIPTION, at};
use crate::time::Nanos;
use whathappened_loopback::{Fake, ReceivedRequest, Reply};

/// What it has.
#[derive(Clone, Default)]
pub(super) struct FakeManager {
    /// Records of the Activity Log.
    pub(super) log: Vec<Value>,
    /// Availability statuses by resource id in lower case.
    pub(super) health: Vec<(String, Vec<Value>)>,
    /// Machines.
    pub(super) machines: Vec<Value>,
    /// Scale sets.
    pub(super) sets: Vec<Value>,
    /// Records on a page.
    pub(super) page: usize,
    /// The address that links to next pages have.
    pub(super) links_to: Option<String>,
    /// Reads left, as told in each answer.
    pub(super) reads_left: Option<u64>,
    /// Resource providers that may not be read.
    pub(super) denied: Vec<&'static str>,
    /// Tokens that are not taken.
    pub(super) expired: Vec<&'static str>,
}

pub(super) fn error(code: u16, name: &str, message: &str) -> Reply {
    Reply::Json(code, json!({"error": {"code": name, "message": message}}))
}

impl FakeManager {
    pub(super) fn start(self) -> Fake {
        Fake::start(move |requested| self.answer(requested))
    }

    fn answer(&self, requested: &ReceivedRequest) -> Reply {
        let token = requested
            .header("authorization")
            .trim_start_matches("Bearer ");
        if !token.starts_with("token-") || self.expired.contains(&token) {
            return error(
                401,
                "ExpiredAuthenticationToken",
                "The access token expiry UTC time is earlier than current UTC time.",
            );
        }
        let path = requested.path.to_lowercase();
        if requested.query("api-version").is_empty() {
            return error(
                400,
                "MissingApiVersionParameter",
                "The api-version query parameter (?api-version=) is required for all requests.",
            );
        }
        let denied = self
            .denied
            .iter()
            .find(|part| path.contains(&part.to_lowercase()));
        if let Some(part) = denied {
            return error(
                403,
                "AuthorizationFailed",
                &format!(
                    "The client 'ada' does not have authorization to perform action '{part}' over scope '/subscriptions/x'."
                ),
            );
        }
        if path == "/subscriptions" {
            return self.page(
                requested,
                &[
                    json!({"subscriptionId": SUBSCRIPTION, "state": "Enabled"}),
                    json!({"subscriptionId": "gone", "state": "Deleted"}),
                ],
            );
        }
        if path.ends_with("/eventtypes/management/values") {
            return self.activity(requested);
        }
        if let Some(id) =
            path.strip_suffix("/providers/microsoft.resourcehealth/availabilitystatuses")
        {
            let all = id.matches('/').count() == 2;
            let of = self.health.iter().filter(|(known, _)| all || known == id);
            let statuses: Vec<Value> = of.flat_map(|(_, all)| all.clone()).collect();
            if statuses.is_empty() && !all {
                return error(404, "ResourceNotFound", "The Resource was not found.");
            }
            return self.page(requested, &statuses);
        }
        if path.ends_with("/providers/microsoft.compute/virtualmachines") {
            let alone = |one: &&Value| !one["id"].to_string().contains("virtualMachineScaleSets");
            let machines: Vec<Value> = self.machines.iter().filter(alone).cloned().collect();
            return self.page(requested, &machines);
        }
        if path.ends_with("/virtualmachinescalesets") {
            return self.page(requested, &self.sets);
        }
        let named = |one: &&Value| one["id"].as_str().unwrap().to_lowercase() == path;
        if let Some(one) = self.machines.iter().find(named) {
            assert_eq!(requested.query("$expand"), "instanceView");
            return Reply::Json(200, one.clone());
        }
        let members: Vec<Value> = self
            .machines
            .iter()
            .filter(|one| {
                let id = one["id"].as_str().unwrap().to_lowercase();
                path.ends_with("/virtualmachines") && id.starts_with(&format!("{path}/"))
            })
            .cloned()
            .collect();
        if !members.is_empty() {
            return self.page(requested, &members);
        }
        error(404, "ResourceNotFound", "The Resource was not found.")
    }

    /// Only a range of time and one condition more may be filtered by.
    fn activity(&self, requested: &ReceivedRequest) -> Reply {
        let filter = requested.query("$filter");
        let conditions: Vec<&str> = filter.split(" and ").collect();
        let value = |condition: &str, start: &str| -> Option<String> {
            let text = condition.strip_prefix(start)?.strip_prefix(" '")?;
            Some(text.strip_suffix('\'')?.to_lowercase())
        };
        let time = |n: usize, start: &str| -> Option<Nanos> {
            let text = value(conditions.get(n)?, start)?;
            Some(at(&text.to_uppercase()))
        };
        let (Some(from), Some(to)) = (time(0, "eventTimestamp ge"), time(1, "eventTimestamp le"))
        else {
            return error(400, "BadRequest", "The filter is not valid.");
        };
        if at(NOON) - from > 90 * 24 * super::HOUR {
            return error(
                400,
                "BadRequest",
                "The start time cannot be more than 90 days in the past.",
            );
        }
        let fields = ["resourceGroupName", "resourceUri", "resourceProvider"];
        let third = conditions.get(2).map(|third| {
            fields
                .iter()
                .find_map(|field| Some((*field, value(third, &format!("{field} eq"))?)))
        });
        if conditions.len() > 3 || third == Some(None) {
            return error(400, "BadRequest", "The filter is not valid.");
        }
        let select: Vec<&str> = requested.query("$select").split(',').collect();
        let mut found: Vec<&Value> = self
            .log
            .iter()
            .filter(|record| {
                let when = at(record["eventTimestamp"].as_str().unwrap());
                let id = record["resourceId"].as_str().unwrap().to_lowercase();
                let fits = match &third {
                    Some(Some((field, wanted))) => match *field {
                        "resourceGroupName" => id.contains(&format!("/resourcegroups/{wanted}/")),
                        "resourceUri" => id == *wanted,
                        _ => record["resourceProviderName"]["value"]
                            .as_str()
                            .is_some_and(|name| name.eq_ignore_ascii_case(wanted)),
                    },
                    _ => true,
                };
                from <= when && when <= to && fits
            })
            .collect();
        // Newest first.
        found.sort_by_key(|record| {
            std::cmp::Reverse(at(record["eventTimestamp"].as_str().unwrap()))
        });
        let only = |record: &Value| {
            let fields = record.as_object().unwrap().iter();
            let kept = fields.filter(|(name, _)| select.contains(&name.as_str()));
            Value::Object(
                kept.map(|(name, value)| (name.clone(), value.clone()))
                    .collect(),
            )
        };
        let found: Vec<Value> = found.into_iter().map(only).collect();
        self.page(requested, &found)
    }

    /// A page of a list. The first one is empty where pages are small: a list
    /// may go on after nothing.
    fn page(&self, requested: &ReceivedRequest, all: &[Value]) -> Reply {
        let size = if self.page == 0 { 1_000 } else { self.page };
        let skip: usize = requested.query("$skipToken").parse().unwrap_or(0);
        let first = self.page > 0 && skip == 0;
        let start = skip.saturating_sub(1);
        let take = if first { 0 } else { size };
        let items: Vec<Value> = all.iter().skip(start).take(take).cloned().collect();
        let end = start + take;
        let mut body = json!({"value": items});
        if first || end < all.len() {
            let mut query = url::form_urlencoded::Serializer::new(String::new());
            for (name, value) in requested
                .pairs
                .iter()
                .filter(|(name, _)| name != "$skipToken")
            {
                query.append_pair(name, value);
            }
            query.append_pair("$skipToken", &(end + 1).to_string());
            let own = format!("http://{}", requested.header("host"));
            let host = self.links_to.clone().unwrap_or(own);
            body["nextLink"] = json!(format!("{host}{}?{}", requested.path, query.finish()));
        }
        let mut headers = vec![("Content-Type", "application/json".to_owned())];
        if let Some(left) = self.reads_left {
            headers.push((
                "x-ms-ratelimit-remaining-subscription-reads",
                left.to_string(),
            ));
        }
        Reply::Full(200, headers, body.to_string())
    }
}
