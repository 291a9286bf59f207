//! The services of one account in one region, and how they are asked.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::sleep_until;

use super::options::{EC2, HEALTH, LiveOptions, SCALING, STS, TRAIL};
use super::{region, wire, xml};
use crate::aws_auth::{AwsAccess, Service};
use crate::http::{Answer, Client, HttpError, HttpOptions, Request};

/// Fields of a record as AWS's command line prints them.
pub(super) type Fields = Map<String, Value>;

/// One question to a service, to be asked page by page.
#[derive(Clone, Debug)]
pub(super) struct ServiceCall {
    /// The action: `DescribeInstances`.
    pub(super) action: &'static str,
    /// The permission that it takes: `ec2:DescribeInstances`.
    pub(super) permission: &'static str,
    /// The key of the records in an answer: `Reservations`.
    pub(super) items: &'static str,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    /// The query protocol: parameters in, XML out.
    Query(&'static str, Vec<(String, String)>),
    /// JSON 1.1: the prefix of the action, the document.
    Json(&'static str, Fields),
}

const TRAIL_PREFIX: &str = "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101";
const HEALTH_PREFIX: &str = "AWSHealth_20160804";

impl ServiceCall {
    /// A question to EC2.
    pub(super) fn ec2(action: &'static str, permission: &'static str, items: &'static str) -> Self {
        let body = Body::Query("2016-11-15", Vec::new());
        Self {
            action,
            permission,
            items,
            body,
        }
    }

    /// `DescribeScalingActivities`.
    pub(super) fn activities() -> Self {
        Self {
            action: "DescribeScalingActivities",
            permission: "autoscaling:DescribeScalingActivities",
            items: "Activities",
            body: Body::Query("2011-01-01", Vec::new()),
        }
    }

    /// `LookupEvents`.
    pub(super) fn lookup(fields: Fields) -> Self {
        Self {
            action: "LookupEvents",
            permission: "cloudtrail:LookupEvents",
            items: "Events",
            body: Body::Json(TRAIL_PREFIX, fields),
        }
    }

    /// A question to AWS Health.
    pub(super) fn health(
        action: &'static str,
        permission: &'static str,
        items: &'static str,
        fields: Fields,
    ) -> Self {
        let body = Body::Json(HEALTH_PREFIX, fields);
        Self {
            action,
            permission,
            items,
            body,
        }
    }

    /// Adds a parameter of the query protocol.
    pub(super) fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Body::Query(_, params) = &mut self.body {
            params.push((name.into(), value.into()));
        }
        self
    }

    /// Adds a filter of EC2: any of the values.
    pub(super) fn filter<'v>(
        self,
        number: usize,
        name: &str,
        values: impl IntoIterator<Item = &'v str>,
    ) -> Self {
        let named = self.with(format!("Filter.{number}.Name"), name);
        (1..).zip(values).fold(named, |call, (at, value)| {
            call.with(format!("Filter.{number}.Value.{at}"), value)
        })
    }

    fn service(&self) -> Service {
        match &self.body {
            Body::Query(_, _) if self.permission.starts_with("autoscaling:") => SCALING,
            Body::Query(_, _) => EC2,
            Body::Json(HEALTH_PREFIX, _) => HEALTH,
            Body::Json(_, _) => TRAIL,
        }
    }

    /// The request for a page.
    fn request(&self, token: Option<&str>) -> Result<Request, HttpError> {
        match &self.body {
            Body::Query(version, params) => {
                let mut all = vec![("Action", self.action), ("Version", *version)];
                all.extend(params.iter().map(|(name, value)| (&**name, &**value)));
                all.extend(token.map(|token| ("NextToken", token)));
                Ok(Request::post("").form(&all))
            }
            Body::Json(prefix, fields) => {
                let mut fields = fields.clone();
                if let Some(token) = token {
                    fields.insert(self.token().to_owned(), Value::from(token));
                }
                Request::post("")
                    .header("X-Amz-Target", format!("{prefix}.{}", self.action))
                    .json_as("application/x-amz-json-1.1", &fields)
            }
        }
    }

    /// The key of the next page's token, in question and answer.
    fn token(&self) -> &'static str {
        match self.body {
            Body::Json(HEALTH_PREFIX, _) => "nextToken",
            _ => "NextToken",
        }
    }

    /// What an answer holds.
    fn fields(&self, answer: &Answer) -> Result<Fields, HttpError> {
        match self.body {
            Body::Query(_, _) => read_xml(answer, self.action),
            Body::Json(_, _) => answer.json(),
        }
    }
}

/// Fields of an answer in XML to an action.
fn read_xml(answer: &Answer, action: &str) -> Result<Fields, HttpError> {
    let garbage =
        |why: String| HttpError::Garbage(format!("the response to {action} is not XML: {why}"));
    let root = xml::parse(&answer.body).map_err(garbage)?;
    if root.name != format!("{action}Response") {
        return Err(garbage(format!("it is a {:?}", root.name)));
    }
    // Auto Scaling and STS wrap what EC2 does not.
    let result = format!("{action}Result");
    let inner = root.children.iter().find(|child| child.name == result);
    Ok(wire::fields(inner.unwrap_or(&root)))
}

/// What came of reading a question's pages.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// The records, in the order of the answers.
    pub(super) records: Vec<Fields>,
    /// How many requests it took, tries not counted.
    pub(super) requests: u64,
    /// There is more: the limit was reached.
    pub(super) cut: bool,
    /// What ended it early; the records up to there are good.
    pub(super) failure: Option<HttpError>,
}

/// Who we are to an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    /// The account's number.
    pub(super) account: String,
    /// Our own ARN.
    pub(super) arn: String,
}

/// The services of one account in one region.
#[derive(Debug)]
pub(super) struct Api {
    pub(super) region: String,
    ec2: Client,
    scaling: Client,
    trail: Client,
    health: Client,
    sts: Client,
    /// When `CloudTrail` may be asked again.
    turn: Mutex<Option<Instant>>,
    between_lookups: Duration,
}

impl Api {
    /// Prepares to ask; asks nothing yet.
    ///
    /// # Errors
    /// For endpoints that are no addresses.
    pub(super) fn new(
        access: &AwsAccess,
        region: &str,
        options: &LiveOptions,
    ) -> Result<Self, HttpError> {
        let client = |service: Service, region: &str| {
            let access = access.in_region(region);
            let url = match options.endpoint(service) {
                Some(url) => url.to_owned(),
                None => access.url(service)?,
            };
            let mut http = HttpOptions::new(url);
            http.auth = access.signs_for(service.signed_as)?;
            Client::new(http)
        };
        Ok(Self {
            ec2: client(EC2, region)?,
            scaling: client(SCALING, region)?,
            trail: client(TRAIL, region)?,
            health: client(HEALTH, region::of_health(region))?,
            sts: client(STS, region)?,
            region: region.to_owned(),
            turn: Mutex::default(),
            between_lookups: options.between_lookups,
        })
    }

    /// Who we are, and the server's time where it tells.
    ///
    /// # Errors
    /// Where credentials are missing or not accepted, or nobody answers.
    pub(super) async fn caller(
        &self,
        deadline: Instant,
    ) -> Result<(Caller, Option<crate::time::Nanos>), HttpError> {
        const ACTION: &str = "GetCallerIdentity";
        let request = Request::post("").form(&[("Action", ACTION), ("Version", "2011-06-15")]);
        let answer = self.sts.send(&request, deadline).await?;
        let fields = read_xml(&answer, ACTION)?;
        let text = |key: &str| fields.get(key).and_then(Value::as_str);
        let Some(account) = text("Account") else {
            return Err(HttpError::Garbage(format!("{ACTION} returned no account")));
        };
        let caller = Caller {
            account: account.to_owned(),
            arn: text("Arn").unwrap_or_default().to_owned(),
        };
        Ok((caller, answer.date()))
    }

    /// Reads up to `most` pages.
    pub(super) async fn pages(&self, call: &ServiceCall, most: u64, deadline: Instant) -> Pages {
        let mut pages = Pages::default();
        let mut token: Option<String> = None;
        while pages.requests < most {
            pages.requests += 1;
            let fields = match self.page(call, token.as_deref(), deadline).await {
                Ok(fields) => fields,
                Err(failure) => {
                    pages.failure = Some(failure);
                    return pages;
                }
            };
            let (records, next) = split(fields, call);
            // A page may be empty and still have a token.
            pages.records.extend(records);
            if next.is_none() {
                return pages;
            }
            if next == token {
                let why = format!("{} returned the same token again", call.action);
                pages.failure = Some(HttpError::Garbage(why));
                return pages;
            }
            token = next;
        }
        pages.cut = true;
        pages
    }

    async fn page(
        &self,
        call: &ServiceCall,
        token: Option<&str>,
        deadline: Instant,
    ) -> Result<Fields, HttpError> {
        let client = match call.service() {
            EC2 => &self.ec2,
            SCALING => &self.scaling,
            HEALTH => &self.health,
            _ => {
                self.wait(deadline).await?;
                &self.trail
            }
        };
        let answer = client.send(&call.request(token)?, deadline).await?;
        call.fields(&answer)
    }

    /// Waits until `CloudTrail` may be asked again.
    async fn wait(&self, deadline: Instant) -> Result<(), HttpError> {
        let mut turn = self.turn.lock().await;
        let now = Instant::now();
        let at = turn.map_or(now, |turn| turn.max(now));
        if at >= deadline {
            return Err(HttpError::TimedOut(deadline.saturating_duration_since(now)));
        }
        *turn = Some(at + self.between_lookups);
        drop(turn);
        sleep_until(at.into()).await;
        Ok(())
    }
}

/// An answer's records, and the token of the next page.
fn split(mut fields: Fields, call: &ServiceCall) -> (Vec<Fields>, Option<String>) {
    let next = fields.get(call.token()).and_then(Value::as_str);
    let next = next.filter(|token| !token.is_empty()).map(str::to_owned);
    let records = match fields.remove(call.items) {
        Some(Value::Array(records)) => records,
        _ => Vec::new(),
    };
    let records = records.into_iter().filter_map(|record| match record {
        Value::Object(fields) => Some(fields),
        _ => None,
    });
    (records.collect(), next)
}
