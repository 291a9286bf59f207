//! Parts of what kubectl prints.

use serde_json::Value;

use crate::time::Time;

pub(super) fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap_or("")
}

pub(super) fn time(value: &Value, path: &str) -> Option<Time> {
    Time::parse(text(value, path))
}

/// What the column STATUS shows.
pub(super) fn pod_status(pod: &Value) -> String {
    if pod["metadata"].get("deletionTimestamp").is_some() {
        return "Terminating".to_owned();
    }
    let init = &pod["status"]["initContainerStatuses"][0];
    if init["name"] == "fetch-data" && init["ready"] != true {
        let state = &init["state"];
        return if let Some(reason) = state["terminated"]["reason"].as_str() {
            format!("Init:{reason}")
        } else {
            match state["waiting"]["reason"].as_str() {
                Some(reason) if reason != "PodInitializing" => format!("Init:{reason}"),
                _ => "Init:0/1".to_owned(),
            }
        };
    }
    let state = &pod["status"]["containerStatuses"][0]["state"];
    for kind in ["waiting", "terminated"] {
        if let Some(reason) = state[kind]["reason"].as_str() {
            return reason.to_owned();
        }
    }
    let reason = text(pod, "/status/reason");
    if reason.is_empty() {
        text(pod, "/status/phase").to_owned()
    } else {
        reason.to_owned()
    }
}

pub(super) fn pairs(head: &str, of: &Value) -> String {
    let Some(of) = of.as_object().filter(|of| !of.is_empty()) else {
        return format!("{head}<none>");
    };
    let indent = " ".repeat(head.len());
    let lines: Vec<String> = of
        .iter()
        .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or("")))
        .collect();
    format!("{head}{}", lines.join(&format!("\n{indent}")))
}

pub(super) fn init_container(out: &mut Vec<String>, pod: &Value) {
    let all = pod["status"]["initContainerStatuses"].as_array();
    for (at, status) in all.into_iter().flatten().enumerate() {
        if at == 0 {
            out.push("Init Containers:".to_owned());
        }
        out.push(format!("  {}:", text(status, "/name")));
        one_container(out, status);
    }
}

fn one_container(out: &mut Vec<String>, status: &Value) {
    out.push(format!(
        "    Container ID:  {}",
        text(status, "/containerID")
    ));
    out.push(format!("    Image:         {}", text(status, "/image")));
    state(out, "    State:         ", &status["state"]);
    let last = &status["lastState"];
    if last.as_object().is_some_and(|last| !last.is_empty()) {
        state(out, "    Last State:    ", last);
    }
    let ready = if status["ready"] == true {
        "True"
    } else {
        "False"
    };
    out.push(format!("    Ready:          {ready}"));
    out.push(format!("    Restart Count:  {}", status["restartCount"]));
}

pub(super) fn container(out: &mut Vec<String>, pod: &Value) {
    let status = &pod["status"]["containerStatuses"][0];
    let spec = &pod["spec"]["containers"][0];
    out.push("Containers:".to_owned());
    out.push("  trainer:".to_owned());
    out.push(format!(
        "    Container ID:  {}",
        text(status, "/containerID")
    ));
    out.push(format!("    Image:         {}", text(spec, "/image")));
    out.push("    Command:".to_owned());
    for word in spec["command"].as_array().into_iter().flatten() {
        out.push(format!("      {}", word.as_str().unwrap_or("")));
    }
    state(out, "    State:         ", &status["state"]);
    if status["lastState"]
        .as_object()
        .is_some_and(|last| !last.is_empty())
    {
        state(out, "    Last State:    ", &status["lastState"]);
    }
    out.push(format!(
        "    Ready:          {}",
        if status["ready"].as_bool() == Some(true) {
            "True"
        } else {
            "False"
        }
    ));
    out.push(format!(
        "    Restart Count:  {}",
        status["restartCount"].as_i64().unwrap_or(0)
    ));
    out.push("    Limits:".to_owned());
    for (name, value) in spec["resources"]["limits"]
        .as_object()
        .into_iter()
        .flatten()
    {
        out.push(format!("      {name}:  {}", value.as_str().unwrap_or("")));
    }
}

pub(super) fn state(out: &mut Vec<String>, head: &str, state: &Value) {
    let stamp = |value: &Value, path: &str| {
        time(value, path)
            .map(|time| time.format("%a, %d %b %Y %H:%M:%S %z", 0))
            .unwrap_or_default()
    };
    if let Some(running) = state.get("running") {
        out.push(format!("{head} Running"));
        out.push(format!(
            "      Started:      {}",
            stamp(running, "/startedAt")
        ));
    } else if let Some(end) = state.get("terminated") {
        out.push(format!("{head} Terminated"));
        out.push(format!("      Reason:       {}", text(end, "/reason")));
        if !text(end, "/message").is_empty() {
            out.push(format!("      Message:      {}", text(end, "/message")));
        }
        out.push(format!("      Exit Code:    {}", end["exitCode"]));
        out.push(format!("      Started:      {}", stamp(end, "/startedAt")));
        out.push(format!("      Finished:     {}", stamp(end, "/finishedAt")));
    } else if let Some(waiting) = state.get("waiting") {
        out.push(format!("{head} Waiting"));
        out.push(format!("      Reason:       {}", text(waiting, "/reason")));
    }
}
