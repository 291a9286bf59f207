//! Questions that ask three clouds beside a cluster, played by small servers:
//! what they tell, and what becomes of the question where they do not.

mod lab;
mod server;

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use lab::{amazon, google, microsoft, refused};
use server::{ReceivedRequest, Reply, Server};

/// Three clouds, and a store with what the cluster told.
struct Lab {
    folder: tempfile::TempDir,
    google: Server,
    amazon: Server,
    microsoft: Server,
}

type Answer = Box<dyn Fn(&ReceivedRequest, usize) -> Reply + Send + Sync>;

/// The clouds as they should be.
fn well() -> [Answer; 3] {
    [
        Box::new(|asked, _| google(asked)),
        Box::new({
            let lookups = AtomicUsize::new(0);
            move |asked, _| {
                let lookup = usize::from(asked.action() == "LookupEvents");
                amazon(asked, lookups.fetch_add(lookup, Ordering::SeqCst))
            }
        }),
        Box::new(|asked, _| microsoft(asked)),
    ]
}

impl Lab {
    fn start([google, amazon, microsoft]: [Answer; 3]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let lab = Self {
            google: Server::start(google),
            amazon: Server::start(amazon),
            microsoft: Server::start(microsoft),
            folder,
        };
        let (records, bin) = (lab.path("cluster.jsonl"), lab.path("bin"));
        std::fs::write(&records, lab::cluster()).unwrap();
        std::fs::create_dir(&bin).unwrap();
        let az = format!("{bin}/az");
        std::fs::write(&az, lab::az()).unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&az, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let (code, _, err) =
            super::whathappened(&["import", &records, "--store", &lab.path("store")]);
        assert_eq!(code, Some(0), "{err}");
        lab
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn ask(&self, name: &str) -> Value {
        let (google, amazon) = (&self.google.address, &self.amazon.address);
        let variables = lab::variables(google, amazon, &self.microsoft.address, &self.path("bin"));
        let store = self.path("store");
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_whathappened"))
            .args([
                name,
                "--store",
                &store,
                "--format",
                "json",
                "--timeout",
                "20s",
            ])
            .env_clear()
            .env("HOME", self.path("home"))
            .envs(variables)
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        serde_json::from_str(&text(&output.stdout)).unwrap()
    }
}

fn row<'a>(answer: &'a Value, source: &str, resource: &str) -> &'a Value {
    let rows = answer["coverage"].as_array().unwrap();
    let found = rows
        .iter()
        .find(|row| row["source"] == source && row["resource"] == resource);
    found.unwrap_or_else(|| panic!("no row of {source} {resource} in {rows:#?}"))
}

#[test]
fn each_cloud_tells_what_it_did_to_its_machine() {
    let lab = Lab::start(well());
    for (name, cause, source) in [
        ("on-gke", "cloud.spot_reclaimed", "gcp"),
        ("on-eks", "cloud.spot_reclaimed", "aws"),
        ("on-aks", "cloud.host_error", "azure"),
    ] {
        let answer = lab.ask(name);
        let incident = &answer["incidents"][0];
        assert_eq!(incident["cause"], cause, "{name}: {incident:#}");
        assert_eq!(incident["level"], "supported", "{name}");
        // The record's own time, an hour ago, not that of asking.
        let reported = incident.to_string();
        let minute = &lab::ago(3605)[..13];
        assert!(reported.contains(minute), "{minute} in {reported}");
        let activity = row(&answer, source, "activity");
        assert_eq!(activity["status"], "complete", "{activity:#}");
        assert!(activity["rows"].as_u64().unwrap() >= 1, "{activity:#}");
    }
    // Each answered a page without records and with a token; AWS refused at first.
    let asked = lab.google.asked();
    assert!(asked.iter().any(|asked| asked.body.contains("pageToken")));
    let lookups = lab.amazon.asked();
    let lookups = lookups
        .iter()
        .filter(|asked| asked.action() == "LookupEvents");
    assert!(lookups.count() >= 3);
}

#[test]
fn a_cloud_that_refuses_is_a_row_and_the_rest_answers() {
    let denied = json!({"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "Permission 'logging.logEntries.list' denied on resource (or it may not exist)."}});
    let no_login = json!({"error": {"code": 401, "status": "UNAUTHENTICATED", "message": "Request had invalid authentication credentials."}});
    let expired = json!({"__type": "ExpiredTokenException", "message": "The security token included in the request is expired"});
    let skewed = json!({"__type": "RequestTimeTooSkewed", "message": "The difference between the request time and the current time is too large."});
    let old = json!({"error": {"code": "ExpiredAuthenticationToken", "message": "The access token expiry UTC time is earlier than current UTC time."}});
    let no_right = json!({"error": {"code": "AuthorizationFailed", "message": "The client 'ada' does not have authorization to perform action 'Microsoft.Insights/eventtypes/values/Read'"}});
    let always = |code: u16, body: &Value| -> Answer {
        let body = body.clone();
        Box::new(move |_, _| refused(code, &body))
    };
    for (cloud, name, source, answer, words) in [
        (
            0,
            "on-gke",
            "gcp",
            always(403, &denied),
            "roles/logging.viewer",
        ),
        (0, "on-gke", "gcp", always(401, &no_login), "credentials"),
        (1, "on-eks", "aws", always(400, &expired), "ExpiredToken"),
        (
            1,
            "on-eks",
            "aws",
            always(403, &skewed),
            "this machine's clock",
        ),
        (
            2,
            "on-aks",
            "azure",
            always(401, &old),
            "ExpiredAuthenticationToken",
        ),
        (
            2,
            "on-aks",
            "azure",
            always(403, &no_right),
            "Microsoft.Insights/eventtypes/values/Read",
        ),
    ] {
        let mut clouds = well();
        clouds[cloud] = answer;
        let lab = Lab::start(clouds);
        let answer = lab.ask(name);
        let incident = &answer["incidents"][0];
        assert_eq!(incident["cause"], "node.not_ready", "{words}: {incident:#}");
        let rows = answer["coverage"].as_array().unwrap();
        let of_cloud: Vec<&Value> = rows.iter().filter(|row| row["source"] == source).collect();
        let bad: Vec<&&Value> = of_cloud
            .iter()
            .filter(|row| row["status"] == "denied" || row["status"] == "failed")
            .collect();
        assert!(!bad.is_empty(), "{words}: {of_cloud:#?}");
        let reported = bad.iter().any(|row| {
            let detail = row["detail"].as_str().unwrap_or_default();
            detail.contains(words)
        });
        assert!(reported, "{words} in {bad:#?}");
        // Who is refused by one cloud is answered by another.
        let other = if cloud == 2 {
            ("on-gke", "cloud.spot_reclaimed")
        } else {
            ("on-aks", "cloud.host_error")
        };
        assert_eq!(lab.ask(other.0)["incidents"][0]["cause"], other.1);
    }
}

#[test]
fn azure_is_waited_for_as_long_as_it_asks() {
    let mut clouds = well();
    clouds[2] = Box::new(|asked, before| {
        if before == 0 {
            let body = json!({"error": {"code": "TooManyRequests", "message": "slow down"}});
            return (429, "Retry-After: 1\r\n".to_owned(), body.to_string());
        }
        microsoft(asked)
    });
    let answer = Lab::start(clouds).ask("on-aks");
    assert_eq!(answer["incidents"][0]["cause"], "cloud.host_error");
    assert_eq!(row(&answer, "azure", "activity")["status"], "complete");
}
