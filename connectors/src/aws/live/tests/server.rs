//! The services of AWS as their contract has them: limits, tokens, errors.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::time::Stamp;
use whathappened_loopback::{ReceivedRequest, Reply};

/// An instance as the server knows it.
#[derive(Clone, Debug, Default)]
pub(super) struct Instance {
    pub(super) id: String,
    pub(super) dns: String,
    pub(super) zone: String,
    pub(super) state: &'static str,
    /// Code of the state's reason, and the text with the time.
    pub(super) reason: (&'static str, &'static str),
    pub(super) tags: Vec<(&'static str, &'static str)>,
}

impl Instance {
    pub(super) fn new(id: &str, zone: &str) -> Self {
        Self {
            id: id.to_owned(),
            dns: format!("{id}.example.internal"),
            zone: zone.to_owned(),
            state: "running",
            ..Self::default()
        }
    }
}

/// What there is in the accounts.
#[derive(Clone, Debug, Default)]
pub(super) struct FakeAccounts {
    pub(super) instances: Vec<Instance>,
    /// Instance, code, not before.
    pub(super) scheduled: Vec<(&'static str, &'static str, &'static str)>,
    /// Instance, status, time.
    pub(super) spot: Vec<(&'static str, &'static str, &'static str)>,
    /// Group, description, cause, start.
    pub(super) activities: Vec<[&'static str; 4]>,
    /// Records of `CloudTrail`, each with the names of its resources.
    pub(super) calls: Vec<(Value, Vec<String>)>,
    /// Events of Health, each with its instances.
    pub(super) health: Vec<(Value, Vec<&'static str>)>,
    /// What is refused, by action; for how many requests.
    pub(super) refuse: BTreeMap<&'static str, (usize, u16, String)>,
    /// The most records of a page, below what AWS allows.
    pub(super) page: Option<usize>,
    /// Each list begins with an empty page.
    pub(super) empty_first: bool,
}

/// The action of a request.
pub(super) fn action(requested: &ReceivedRequest) -> &str {
    let target = requested.header("x-amz-target");
    match target.rsplit_once('.') {
        Some((_, action)) => action,
        None => requested.query("Action"),
    }
}

/// Key, region and service of a signature.
fn signed(requested: &ReceivedRequest) -> Option<(&str, &str, &str)> {
    let (_, rest) = requested
        .header("authorization")
        .split_once("Credential=")?;
    let mut parts = rest.split(',').next()?.split('/');
    let key = parts.next()?;
    let region = parts.nth(1)?;
    Some((key, region, parts.next()?))
}

fn ec2_error(code: &str, message: &str) -> Reply {
    let body = format!(
        "<?xml version=\"1.0\"?>\n<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors><RequestID>q</RequestID></Response>"
    );
    Reply::Text(400, body)
}

fn json_error(name: &str) -> Reply {
    Reply::Json(400, json!({ "__type": name, "message": "m" }))
}

fn seconds(text: &str) -> i64 {
    Stamp::parse(text).unwrap().lo / 1_000_000_000
}

impl FakeAccounts {
    pub(super) fn answer(&mut self, requested: &ReceivedRequest) -> Reply {
        let name = action(requested);
        if let Some((times, code, body)) = self.refuse.get_mut(name)
            && *times > 0
        {
            *times -= 1;
            return Reply::Text(*code, body.clone());
        }
        let Some((key, region, service)) = signed(requested) else {
            return Reply::Json(403, json!({ "__type": "MissingAuthenticationToken" }));
        };
        let of_service = match name {
            "GetCallerIdentity" => "sts",
            "LookupEvents" => "cloudtrail",
            "DescribeScalingActivities" => "autoscaling",
            "DescribeInstances" | "DescribeInstanceStatus" | "DescribeSpotInstanceRequests" => {
                "ec2"
            }
            _ => "health",
        };
        assert_eq!(service, of_service, "{name} is signed for {service}");
        match name {
            "GetCallerIdentity" => caller(key),
            "DescribeInstances" => self.instances(requested, region),
            "DescribeInstanceStatus" => self.status(requested, region),
            "DescribeSpotInstanceRequests" => self.requests(requested),
            "DescribeScalingActivities" => self.activities(requested),
            "LookupEvents" => self.lookup(requested),
            "DescribeEvents" => self.events(requested, region),
            "DescribeEventDetails" => self.details(requested),
            "DescribeAffectedEntities" => self.entities(requested),
            other => Reply::Text(400, format!("no action {other}")),
        }
    }

    /// A page of `all`, and the next token. A token is where to go on, with the
    /// question that it is of.
    fn page<T: Clone>(
        &self,
        all: &[T],
        most: usize,
        token: Option<&str>,
        question: &str,
    ) -> Result<(Vec<T>, Option<String>), ()> {
        let question: usize = question.bytes().map(usize::from).sum();
        let begin = match token {
            None if self.empty_first => return Ok((Vec::new(), Some(format!("0-{question}")))),
            None => 0,
            Some(token) => {
                let (at, of) = token.split_once('-').ok_or(())?;
                if of != question.to_string() {
                    return Err(());
                }
                at.parse::<usize>().map_err(|_| ())?
            }
        };
        let end = (begin + most.min(self.page.unwrap_or(most))).min(all.len());
        let next = (end < all.len()).then(|| format!("{end}-{question}"));
        Ok((all[begin..end].to_vec(), next))
    }

    fn instances(&self, requested: &ReceivedRequest, region: &str) -> Reply {
        if let Some(wrong) = wrong_filter(requested, 200) {
            return wrong;
        }
        let found: Vec<String> = self
            .instances
            .iter()
            .filter(|one| one.zone.starts_with(region))
            .filter(|one| {
                filters(requested).iter().all(|(name, values)| {
                    let has = |value: &str| values.iter().any(|known| known == value);
                    match name.as_str() {
                        "instance-id" => has(&one.id),
                        "private-dns-name" => has(&one.dns),
                        tag => one
                            .tags
                            .iter()
                            .any(|(key, value)| tag == format!("tag:{key}") && has(value)),
                    }
                })
            })
            .map(instance)
            .collect();
        self.xml(requested, "DescribeInstances", "reservationSet", &found)
    }

    fn status(&self, requested: &ReceivedRequest, region: &str) -> Reply {
        let ids: Vec<&str> = pairs(requested, "InstanceId.");
        if ids.len() > 100 {
            return ec2_error("InvalidParameterValue", "too many instances");
        }
        if !ids.is_empty() && !requested.query("MaxResults").is_empty() {
            return ec2_error("InvalidParameterCombination", "ids and MaxResults");
        }
        let there: Vec<&Instance> = self
            .instances
            .iter()
            .filter(|one| one.zone.starts_with(region))
            .collect();
        let gone: Vec<&str> = ids
            .iter()
            .copied()
            .filter(|id| !there.iter().any(|one| one.id == *id))
            .collect();
        if !gone.is_empty() {
            let message = format!("The instance IDs '{}' do not exist", gone.join(", "));
            return ec2_error("InvalidInstanceID.NotFound", &message);
        }
        let all = requested.query("IncludeAllInstances") == "true";
        let found: Vec<String> = there
            .iter()
            .filter(|one| ids.is_empty() || ids.contains(&one.id.as_str()))
            .filter(|one| all || one.state == "running")
            .map(|one| {
                let events: Vec<String> = self
                    .scheduled
                    .iter()
                    .filter(|(id, _, _)| *id == one.id)
                    .map(|(_, code, before)| {
                        format!("<item><instanceEventId>ev-{code}</instanceEventId><code>{code}</code><description>d</description><notBefore>{before}</notBefore></item>")
                    })
                    .collect();
                format!(
                    "<item><instanceId>{}</instanceId><availabilityZone>{}</availabilityZone><instanceState><code>16</code><name>{}</name></instanceState>\
                     <systemStatus><status>ok</status></systemStatus><instanceStatus><status>ok</status></instanceStatus><eventsSet>{}</eventsSet></item>",
                    one.id, one.zone, one.state, events.concat()
                )
            })
            .collect();
        self.xml(
            requested,
            "DescribeInstanceStatus",
            "instanceStatusSet",
            &found,
        )
    }

    fn requests(&self, requested: &ReceivedRequest) -> Reply {
        if let Some(wrong) = wrong_filter(requested, 200) {
            return wrong;
        }
        let found: Vec<String> = self
            .spot
            .iter()
            .filter(|(id, _, _)| {
                filters(requested)
                    .iter()
                    .all(|(_, values)| values.iter().any(|value| value == id))
            })
            .map(|(id, code, at)| {
                format!("<item><spotInstanceRequestId>sir-{id}</spotInstanceRequestId><instanceId>{id}</instanceId><status><code>{code}</code><message>m</message><updateTime>{at}</updateTime></status><tagSet/></item>")
            })
            .collect();
        self.xml(
            requested,
            "DescribeSpotInstanceRequests",
            "spotInstanceRequestSet",
            &found,
        )
    }

    fn activities(&self, requested: &ReceivedRequest) -> Reply {
        let most: usize = requested.query("MaxRecords").parse().unwrap_or(100);
        if most > 100 {
            return Reply::Text(400, "<ErrorResponse><Error><Code>ValidationError</Code><Message>MaxRecords</Message></Error></ErrorResponse>".to_owned());
        }
        let bound =
            |number: usize| requested.query(&format!("Filters.member.{number}.Values.member.1"));
        let bounded = requested.query("Filters.member.1.Name") == "StartTimeLowerBound"
            && requested.query("Filters.member.2.Name") == "StartTimeUpperBound";
        let group = requested.query("AutoScalingGroupName");
        let found: Vec<String> = self
            .activities
            .iter()
            .filter(|[of, ..]| group.is_empty() || *of == group)
            .filter(|[.., start]| !bounded || (seconds(bound(1))..=seconds(bound(2))).contains(&seconds(start)))
            .map(|[of, description, cause, start]| {
                format!("<member><ActivityId>{start}</ActivityId><AutoScalingGroupName>{of}</AutoScalingGroupName><Description>{description}</Description><Cause>{cause}</Cause><StartTime>{start}</StartTime><StatusCode>Successful</StatusCode></member>")
            })
            .collect();
        let Ok((items, next)) = self.page(&found, most, token(requested), &question(requested))
        else {
            return ec2_error("InvalidNextToken", "t");
        };
        let next = next.map_or(String::new(), |next| {
            format!("<NextToken>{next}</NextToken>")
        });
        let body = format!(
            "<DescribeScalingActivitiesResponse xmlns=\"http://autoscaling.amazonaws.com/doc/2011-01-01/\"><DescribeScalingActivitiesResult><Activities>{}</Activities>{next}</DescribeScalingActivitiesResult></DescribeScalingActivitiesResponse>",
            items.concat()
        );
        Reply::Text(200, body)
    }

    fn lookup(&self, requested: &ReceivedRequest) -> Reply {
        let body = &requested.body;
        let most = body["MaxResults"].as_u64().unwrap_or(50);
        if most == 0 || most > 50 {
            return json_error("InvalidMaxResultsException");
        }
        let wanted = body["LookupAttributes"].as_array();
        if wanted.is_some_and(|wanted| wanted.len() > 1) {
            return json_error("InvalidLookupAttributesException");
        }
        let (from, to) = (body["StartTime"].as_i64(), body["EndTime"].as_i64());
        if from > to {
            return json_error("InvalidTimeRangeException");
        }
        let wanted = wanted.and_then(|wanted| wanted.first());
        let mut found: Vec<(i64, Value)> = self
            .calls
            .iter()
            .filter(|(call, names)| {
                let at = seconds(call["eventTime"].as_str().unwrap());
                let inside = from.is_none_or(|from| from <= at) && to.is_none_or(|to| at <= to);
                let matches = wanted.is_none_or(|wanted| {
                    let value = wanted["AttributeValue"].as_str().unwrap();
                    match wanted["AttributeKey"].as_str().unwrap() {
                        "EventName" => call["eventName"] == value,
                        "ResourceName" => names.iter().any(|name| name == value),
                        other => panic!("no attribute {other}"),
                    }
                });
                inside && matches
            })
            .map(|(call, _)| {
                let at = seconds(call["eventTime"].as_str().unwrap());
                let found = json!({"EventId": call["eventID"], "EventName": call["eventName"], "ReadOnly": "false",
                    "EventTime": at, "EventSource": call["eventSource"], "CloudTrailEvent": call.to_string()});
                (at, found)
            })
            .collect();
        found.sort_by_key(|(at, _)| -at);
        let found: Vec<Value> = found.into_iter().map(|(_, found)| found).collect();
        let mut question = body.clone();
        question["NextToken"] = Value::Null;
        let token = body["NextToken"].as_str();
        let most = usize::try_from(most).unwrap();
        match self.page(
            &found,
            most,
            token,
            &question.to_string().replace(",\"NextToken\":null", ""),
        ) {
            Ok((events, next)) => Reply::Json(200, json!({"Events": events, "NextToken": next})),
            Err(()) => json_error("InvalidNextTokenException"),
        }
    }

    fn events(&self, requested: &ReceivedRequest, region: &str) -> Reply {
        assert_eq!(region, "us-east-1", "Health is asked where it is");
        let filter = &requested.body["filter"];
        let has = |key: &str, value: &str| {
            filter[key]
                .as_array()
                .is_none_or(|values| values.iter().any(|one| one == value))
        };
        if let Some(wrong) = wrong_health(filter) {
            return wrong;
        }
        let since = filter["lastUpdatedTimes"][0]["from"]
            .as_f64()
            .unwrap_or(0.0);
        let found: Vec<Value> = self
            .health
            .iter()
            .filter(|(event, ids)| {
                has("services", event["service"].as_str().unwrap())
                    && has("regions", event["region"].as_str().unwrap())
                    && has(
                        "eventTypeCategories",
                        event["eventTypeCategory"].as_str().unwrap(),
                    )
                    && (filter["entityValues"].is_null()
                        || ids.iter().any(|id| has("entityValues", id)))
                    && event["lastUpdatedTime"].as_f64().unwrap() >= since
            })
            .map(|(event, _)| event.clone())
            .collect();
        self.listed(requested, "events", &found)
    }

    fn details(&self, requested: &ReceivedRequest) -> Reply {
        let arns = requested.body["eventArns"].as_array().unwrap();
        if arns.is_empty() || arns.len() > 10 {
            return json_error("ValidationException");
        }
        let found: Vec<Value> = self
            .health
            .iter()
            .filter(|(event, _)| arns.contains(&event["arn"]))
            .map(|(event, _)| {
                json!({"event": event, "eventDescription": {"latestDescription": "hardware is bad"}})
            })
            .collect();
        Reply::Json(200, json!({"successfulSet": found, "failedSet": []}))
    }

    fn entities(&self, requested: &ReceivedRequest) -> Reply {
        let filter = &requested.body["filter"];
        let Some(arns) = filter["eventArns"].as_array() else {
            return json_error("ValidationException");
        };
        if let Some(wrong) = wrong_health(filter) {
            return wrong;
        }
        let mut found = Vec::new();
        for (event, ids) in self
            .health
            .iter()
            .filter(|(event, _)| arns.contains(&event["arn"]))
        {
            for id in ids {
                let wanted = filter["entityValues"].as_array();
                if wanted.is_none_or(|wanted| wanted.iter().any(|one| one == id)) {
                    found.push(json!({"entityArn": format!("arn:{id}"), "eventArn": event["arn"], "entityValue": id,
                        "awsAccountId": "123456789012", "lastUpdatedTime": event["lastUpdatedTime"], "statusCode": "PENDING"}));
                }
            }
        }
        self.listed(requested, "entities", &found)
    }

    fn listed(&self, requested: &ReceivedRequest, key: &str, found: &[Value]) -> Reply {
        let most = requested.body["maxResults"].as_u64().unwrap_or(100);
        if most > 100 {
            return json_error("ValidationException");
        }
        let question = requested.body["filter"].to_string();
        let token = requested.body["nextToken"].as_str();
        match self.page(found, usize::try_from(most).unwrap(), token, &question) {
            Ok((page, next)) => Reply::Json(200, json!({ key: page, "nextToken": next })),
            Err(()) => json_error("InvalidPaginationToken"),
        }
    }

    /// A page of EC2's.
    fn xml(&self, requested: &ReceivedRequest, action: &str, set: &str, found: &[String]) -> Reply {
        let most = requested.query("MaxResults");
        let most: usize = if most.is_empty() {
            1000
        } else {
            most.parse().unwrap()
        };
        if !(5..=1000).contains(&most) {
            return ec2_error("InvalidParameterValue", "MaxResults");
        }
        let Ok((items, next)) = self.page(found, most, token(requested), &question(requested))
        else {
            return ec2_error("InvalidNextToken", "t");
        };
        let next = next.map_or(String::new(), |next| {
            format!("<nextToken>{next}</nextToken>")
        });
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{action}Response xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><requestId>q</requestId><{set}>{}</{set}>{next}</{action}Response>",
            items.concat()
        );
        Reply::Text(200, body)
    }
}

fn caller(key: &str) -> Reply {
    let number = if key == "AKother" {
        "210987654321"
    } else {
        "123456789012"
    };
    let body = format!(
        "<GetCallerIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><GetCallerIdentityResult><Arn>arn:aws:iam::{number}:user/ada</Arn><UserId>U</UserId><Account>{number}</Account></GetCallerIdentityResult></GetCallerIdentityResponse>"
    );
    Reply::Text(200, body)
}

fn instance(one: &Instance) -> String {
    let tags: Vec<String> = one
        .tags
        .iter()
        .map(|(key, value)| format!("<item><key>{key}</key><value>{value}</value></item>"))
        .collect();
    let (code, text) = one.reason;
    format!(
        "<item><reservationId>r-{id}</reservationId><ownerId>123456789012</ownerId><groupSet/><instancesSet><item><instanceId>{id}</instanceId>\
         <instanceState><code>16</code><name>{state}</name></instanceState><privateDnsName>{dns}</privateDnsName><reason>{text}</reason>\
         <launchTime>2026-11-21T13:00:00.000Z</launchTime><placement><availabilityZone>{zone}</availabilityZone></placement>\
         <stateReason><code>{code}</code><message>{code}: x</message></stateReason><tagSet>{tags}</tagSet></item></instancesSet></item>",
        id = one.id,
        state = one.state,
        dns = one.dns,
        zone = one.zone,
        tags = tags.concat()
    )
}

/// Values of parameters whose names begin like that, in order.
fn pairs<'a>(requested: &'a ReceivedRequest, prefix: &str) -> Vec<&'a str> {
    let found = requested
        .pairs
        .iter()
        .filter(|(key, _)| key.starts_with(prefix));
    found.map(|(_, value)| value.as_str()).collect()
}

fn filters(requested: &ReceivedRequest) -> Vec<(String, Vec<String>)> {
    (1..)
        .map(|number| (number, requested.query(&format!("Filter.{number}.Name"))))
        .take_while(|(_, name)| !name.is_empty())
        .map(|(number, name)| {
            let values = pairs(requested, &format!("Filter.{number}.Value."));
            let values = values.into_iter().map(str::to_owned).collect();
            (name.to_owned(), values)
        })
        .collect()
}

fn wrong_filter(requested: &ReceivedRequest, most: usize) -> Option<Reply> {
    filters(requested)
        .iter()
        .any(|(_, values)| values.is_empty() || values.len() > most)
        .then(|| ec2_error("FilterLimitExceeded", "The maximum number of filter values"))
}

fn wrong_health(filter: &Value) -> Option<Reply> {
    let most = [("entityValues", 99), ("eventArns", 10), ("regions", 10)];
    most.iter()
        .any(|(key, most)| {
            filter[*key]
                .as_array()
                .is_some_and(|values| values.is_empty() || values.len() > *most)
        })
        .then(|| json_error("ValidationException"))
}

fn token(requested: &ReceivedRequest) -> Option<&str> {
    Some(requested.query("NextToken")).filter(|token| !token.is_empty())
}

/// A request without the token.
fn question(requested: &ReceivedRequest) -> String {
    let all = requested.pairs.iter().filter(|(key, _)| key != "NextToken");
    all.map(|(key, value)| format!("{key}={value}&")).collect()
}
