//! Places in a text where a name of a namespace stands: whoever the name is of,
//! and whether or not the catalogue knows it.

use std::ops::Range;

use super::public_names;

/// What a text has to have for there to be such a place: most have none.
const SIGNS: [&str; 26] = [
    "namespace",
    "kubernetes.io/metadata.name",
    "kubectl",
    "helm",
    // `Preempted by ns/name`, `pod ns/name`, `name_ns(uid)`
    "preempt",
    "evict",
    "displace",
    "reclaim",
    "pod",
    "claim",
    "queue",
    "ns=",
    "ns/",
    "ns:",
    "ns\"",
    ".svc",
    ".pod.cluster",
    "serviceaccount",
    "/log/",
    // `job X`, `experiment X`, where X is a name of others
    "job",
    "experiment",
    "workload",
    "deployment",
    "set",
    "displaced",
    "replaced",
];

/// What a name of something in a namespace follows.
pub(super) const KINDS: [&str; 35] = [
    "pod",
    "pods",
    "service",
    "services",
    "svc",
    "job",
    "jobs",
    "jobset",
    "pytorchjob",
    "rayjob",
    "workload",
    "workloads",
    "deployment",
    "statefulset",
    "replicaset",
    "configmap",
    "secret",
    "pvc",
    "persistentvolumeclaim",
    "queue",
    "localqueue",
    "quota",
    "resourcequota",
    "cronjob",
    "daemonset",
    "mpijob",
    "experiment",
    "serviceaccount",
    "networkpolicy",
    "poddisruptionbudget",
    "pdb",
    "budget",
    "podgroup",
    "ingress",
    "name",
];

/// Of these, what also stands before a namespace, a slash and a name.
const PAIRED: [&str; 5] = ["claim", "preemptor", "object", "clusterqueue", "victim"];

/// Who does something to a pod stands behind one of these and "by".
const TAKERS: [&str; 8] = [
    "preempt",
    "preempted",
    "evict",
    "evicted",
    "displaced",
    "reclaimed",
    "replaced",
    "preempting",
];

/// How many words beside a namespace may name what is in it.
const BESIDE: usize = 6;

/// Who is to be hidden.
pub(super) trait HidePolicy {
    /// Whether a namespace of this name, in lower case, is one of others.
    fn is_foreign(&self, namespace: &str) -> bool;
    /// Whether the catalogue knows it as one of others.
    fn is_known(&self, namespace: &str) -> bool;
    /// Whether a workload or an experiment of others, and nobody else's, has this name,
    /// in lower case.
    fn is_workload(&self, name: &str) -> bool;
    /// Whether something of this name is the caller's own.
    fn is_own(&self, name: &str) -> bool;
}

/// Where a text in lower case names namespaces of others and what is in them.
pub(super) fn find(lower: &str, judge: &dyn HidePolicy) -> Vec<Range<usize>> {
    if !SIGNS.iter().any(|sign| lower.contains(sign)) {
        return Vec::new();
    }
    let mut places = MentionScan {
        lower,
        tokens: tokens(lower),
        judge,
        found: Vec::new(),
    };
    for at in 0..places.tokens.len() {
        places.headed(at);
        places.account(at);
        places.domain(at);
        places.logs(at);
        places.pair(at);
        places.kubelet(at);
        places.workload(at);
    }
    places.found
}

struct MentionScan<'a> {
    lower: &'a str,
    tokens: Vec<Range<usize>>,
    judge: &'a dyn HidePolicy,
    found: Vec<Range<usize>>,
}

impl MentionScan<'_> {
    fn token(&self, at: usize) -> &str {
        let range = self.tokens.get(at).cloned().unwrap_or_default();
        self.lower.get(range).unwrap_or_default()
    }

    fn back(&self, at: usize, by: usize) -> &str {
        at.checked_sub(by).map_or("", |at| self.token(at))
    }

    /// What stands before a token.
    fn before(&self, at: usize) -> &str {
        let from = at.checked_sub(1).and_then(|at| self.tokens.get(at));
        let from = from.map_or(0, |range| range.end);
        let to = self
            .tokens
            .get(at)
            .map_or(self.lower.len(), |one| one.start);
        self.lower.get(from..to).unwrap_or_default()
    }

    fn is_foreign(&self, at: usize) -> bool {
        let word = self.token(at);
        let is_hidden = word == "hidden" && self.before(at).ends_with('[');
        !word.is_empty() && !is_hidden && self.judge.is_foreign(word)
    }

    fn hide(&mut self, at: usize) {
        self.found.extend(self.tokens.get(at).cloned());
    }

    /// `namespace X`, `"namespace":"X"`, `ns=X`, `/namespaces/X/pods/Y`.
    fn headed(&mut self, at: usize) {
        let Some(join) = join(self.before(at)) else {
            return;
        };
        let (head, mut of) = (self.back(at, 1), self.back(at, 2));
        let is_list = head == "namespaces";
        let mut is_head = head.ends_with("namespace") || is_list;
        if head == "name" && of.ends_with("namespace") && matches!(self.before(at - 1), "_" | ".") {
            // `k8s.namespace.name=X`
            is_head = true;
        } else if head == "ns" {
            // So many ns, or ns for each of something, are a time.
            of = if self.before(at - 1) == " " { of } else { "" };
            let is_time = of.bytes().all(|byte| byte.is_ascii_digit()) && !of.is_empty();
            is_head = join == Joiner::Sign && !is_time && !self.is_number(at);
        } else if head.ends_with("namespacename") {
            is_head = true;
        } else if head == "n" && matches!(self.before(at - 1), " -" | "-" | "\"-" | " \"-") {
            // `kubectl -n X`; others have an `-n` as well.
            let tool = |word: &&str| self.lower.contains(word);
            is_head = ["kubectl", "helm"].iter().any(tool) && !self.is_number(at);
        } else if head == "name" && of == "metadata" && self.before(at - 1) == "." {
            // The label that each namespace bears.
            is_head = self.back(at, 3) == "io" && self.back(at, 4) == "kubernetes";
        }
        let word = self.token(at);
        let is_word = public_names::is_sentence(word)
            || join == Joiner::Space
                && public_names::is_ordinary(word)
                && !self.judge.is_known(word);
        if !is_head || is_word || !self.is_foreign(at) {
            return;
        }
        self.hide(at);
        if self.before(at + 1) == "/" {
            let is_kind = self.before(at + 2) == "/";
            self.dotted(at + 1 + usize::from(is_kind));
        }
        self.list(at, is_list);
        self.beside(at);
    }

    fn is_number(&self, at: usize) -> bool {
        self.token(at).bytes().all(|byte| byte.is_ascii_digit())
    }

    /// A name and what follows it with a dot.
    fn dotted(&mut self, from: usize) {
        if from >= self.tokens.len() {
            return;
        }
        let mut to = from;
        while self.before(to + 1) == "." && to + 1 < self.tokens.len() {
            to += 1;
        }
        self.span(from, to);
    }

    fn span(&mut self, from: usize, to: usize) {
        if let (Some(from), Some(to)) = (self.tokens.get(from), self.tokens.get(to)) {
            self.found.push(from.start..to.end);
        }
    }

    /// `namespaces X, Y and Z`
    fn list(&mut self, mut at: usize, is_list: bool) {
        const COMMAS: [&str; 5] = [", ", ",", "\",\"", "\", \"", "\\\",\\\""];
        while is_list && COMMAS.contains(&self.before(at + 1)) {
            at += 1;
            if public_names::is_sentence(self.token(at)) {
                return;
            }
            if self.is_foreign(at) {
                self.hide(at);
            }
        }
    }

    /// Names of what is in a namespace, a few words from it.
    fn beside(&mut self, of: usize) {
        for at in of.saturating_sub(BESIDE)..=of + BESIDE {
            let kind = self.back(at, 1);
            let (Some(join), true) = (join(self.before(at)), is_kind(kind)) else {
                continue;
            };
            let word = self.token(at);
            let is_name = join == Joiner::Sign || kind != "name" && word.contains('-');
            let is_key = public_names::is_ordinary(word) || public_names::is_sentence(word);
            if at != of && is_name && !is_key && !self.judge.is_own(word) {
                self.hide(at);
            }
        }
    }

    /// `system:serviceaccount:X:Y`
    fn account(&mut self, at: usize) {
        let head = self.back(at, 1).trim_end_matches('s');
        if head != "serviceaccount" || self.before(at) != ":" || !self.is_foreign(at) {
            return;
        }
        self.hide(at);
        if self.before(at + 1) == ":" {
            self.dotted(at + 1);
        }
    }

    /// `Preempted by X/Y`, `pod X/Y`, `pod="X/Y"`
    fn pair(&mut self, at: usize) {
        let (word, of) = (self.token(at), self.token(at + 1));
        let has_letter = |word: &str| word.bytes().any(|byte| byte.is_ascii_alphabetic());
        // A path has more of them, and a domain stands before a slash as well.
        // A kubelet puts each of both into quotes: `object-"X"/"Y"`.
        let is_pair = matches!(self.before(at + 1), "/" | "\"/\"" | "\\\"/\\\"")
            && !matches!(self.before(at + 2).bytes().next(), Some(b'/' | b'_'))
            && has_letter(word)
            && has_letter(of);
        let Some(join) = join(self.before(at)).filter(|_| is_pair) else {
            return;
        };
        if self.before(at).ends_with(['/', '-']) {
            return;
        }
        let head = self.back(at, 1);
        let is_headed = match head {
            // As a verdict says it.
            "for" => self.back(at, 2) == "room" && join == Joiner::Space,
            "by" => TAKERS.contains(&self.back(at, 2)) && join == Joiner::Space,
            // A name with a slash is a key of a label or a resource.
            "name" => false,
            head => is_kind(head) || PAIRED.contains(&head),
        };
        let is_word = public_names::is_sentence(word)
            || public_names::is_ordinary(word) && !self.judge.is_known(word)
            || is_kind(word)
            || self.judge.is_own(word);
        let is_own = self.judge.is_own(of);
        if !is_headed || is_word || !self.is_foreign(at) {
            return;
        }
        self.hide(at);
        if !is_own {
            self.dotted(at + 1);
        }
    }

    /// `Y_X(uid)`, as a kubelet writes a pod.
    fn kubelet(&mut self, at: usize) {
        let uid = self.token(at + 1);
        let is_uid = uid.len() == 36
            && uid
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
            || uid.len() == 32 && uid.bytes().all(|byte| byte.is_ascii_hexdigit());
        if self.before(at) != "_" || self.before(at + 1) != "(" || !is_uid || at == 0 {
            return;
        }
        if !self.is_foreign(at) {
            return;
        }
        let mut from = at - 1;
        while from > 0 && self.before(from) == "." {
            from -= 1;
        }
        self.span(from, at);
    }

    /// `job X`, `JobSet X preempted`, `preempted by X`
    fn workload(&mut self, at: usize) {
        let word = self.token(at);
        if word.is_empty() || !self.judge.is_workload(word) {
            return;
        }
        let Some(join) = join(self.before(at)) else {
            return;
        };
        let head = self.back(at, 1);
        let is_headed = match head {
            "by" => TAKERS.contains(&self.back(at, 2)),
            "name" => false,
            head => is_kind(head),
        };
        let is_word = public_names::is_sentence(word)
            || join == Joiner::Space && public_names::is_ordinary(word);
        if is_headed && !is_word {
            self.hide(at);
        }
    }

    /// `service.X.svc`, `10-0-0-1.X.pod.cluster.local`
    fn domain(&mut self, at: usize) {
        let is_domain = self.before(at + 1) == "."
            && (self.token(at + 1) == "svc"
                || self.token(at + 1) == "pod" && self.token(at + 2) == "cluster");
        if !is_domain || !self.is_foreign(at) {
            return;
        }
        let mut from = at;
        while from > 0 && self.before(from) == "." {
            from -= 1;
        }
        self.span(from, at);
    }

    /// `/log/pods/X_pod_uid`, `/log/containers/pod_X_container`
    fn logs(&mut self, at: usize) {
        let under = self.before(at) == "/" && self.before(at + 1) == "_";
        if !under || self.back(at, 2) != "log" {
            return;
        }
        let namespace = match self.back(at, 1) {
            "pods" => at,
            "containers" => at + 1,
            _ => return,
        };
        if self.is_foreign(namespace) {
            self.span(at, at + 1);
        }
    }
}

/// Whether a name of something in a namespace follows a word, which may be a plural.
fn is_kind(word: &str) -> bool {
    KINDS.contains(&word)
        || word
            .strip_suffix('s')
            .is_some_and(|one| KINDS.contains(&one))
}

/// How a name is joined to what it follows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joiner {
    Space,
    /// Quotes or signs, so that it is a value and no next word.
    Sign,
}

fn join(between: &str) -> Option<Joiner> {
    const SIGNS: &str = " :=/\"'`\\([<-";
    let fits = !between.is_empty()
        && between.len() <= 8
        && between.chars().all(|sign| SIGNS.contains(sign))
        && !between.starts_with(" -");
    match fits {
        true if between.bytes().all(|byte| byte == b' ') => Some(Joiner::Space),
        // An opening bracket behind a space begins another thought.
        true if between.starts_with(" (") => None,
        true => Some(Joiner::Sign),
        false => None,
    }
}

/// The runs of a text that may be names: letters, digits and hyphens within.
fn tokens(lower: &str) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let mut begun: Option<Range<usize>> = None;
    for (at, byte) in lower.bytes().enumerate() {
        match (byte.is_ascii_alphanumeric(), begun.as_mut()) {
            (true, Some(token)) => token.end = at + 1,
            (true, None) => begun = Some(at..at + 1),
            (false, Some(_)) if byte == b'-' => {}
            (false, _) => tokens.extend(begun.take()),
        }
    }
    tokens.extend(begun);
    tokens
}
