//! Places in a text where a name of a namespace stands: whoever the name is of,
//! and whether or not the catalogue knows it.

use std::ops::Range;

use super::mention_words::{Joiner, is_kind, join, tokens};
use super::public_names;

/// What a text has to have for there to be such a place: most have none.
const SIGNS: [&str; 34] = [
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
    // `secret ns/name`, `disruption budget ns/name`
    "secret",
    "configmap",
    "networkpolicy",
    "budget",
    "ingress",
    "service",
    "quota",
    "victim",
    // `job X`, `experiment X`, where X is a name of others
    "job",
    "experiment",
    "workload",
    "deployment",
    "set",
    "displaced",
    "replaced",
];

/// Of these, what also stands before a namespace, a slash and a name.
const PAIRED: [&str; 5] = ["claim", "preemptor", "object", "clusterqueue", "victim"];

/// Who does something to a pod stands behind one of these and "by".
const TAKERS: [&str; 16] = [
    "bound",
    "blocked",
    "claimed",
    "eviction",
    "held",
    "mounted",
    "owned",
    "used",
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
        last_pair: None,
    };
    for at in 0..places.tokens.len() {
        places.headed(at);
        places.trailed(at);
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
    /// The first word of the last pair that stood where one is looked for.
    last_pair: Option<usize>,
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
            // `kubectl delete ns X`
            let is_typed = join == Joiner::Space
                && of.bytes().all(|byte| byte.is_ascii_alphabetic())
                && self.lower.contains("kubectl ");
            is_head = (join == Joiner::Sign || is_typed) && !is_time && !self.is_number(at);
        } else if head.ends_with("namespacename") {
            is_head = true;
        } else if head == "n" && matches!(self.before(at - 1), " -" | "-" | "\"-" | " \"-") {
            // `kubectl -n X`; others have an `-n` as well.
            let tool = |word: &&str| self.lower.contains(word);
            // `pod/Y -n X`
            let is_of_one = at > 2 && self.before(at - 2) == "/" && is_kind(self.back(at, 3));
            let is_typed = is_of_one || ["kubectl", "helm"].iter().any(tool);
            is_head = is_typed && !self.is_number(at);
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
        // `preempted by Y (namespace: X)`
        if at > 1 && self.before(at - 1) == " (" {
            let of = self.back(at, 2);
            if of.contains('-') && !self.judge.is_own(of) {
                self.hide(at - 2);
            }
        }
    }

    /// `the X namespace`, where X is no word: namespaces of a kernel are called so, too.
    fn trailed(&mut self, at: usize) {
        let word = self.token(at);
        let is_name = word.contains('-') || word.bytes().any(|byte| byte.is_ascii_digit());
        let is_of_name = self.before(at + 1) == " " && self.token(at + 1) == "namespace";
        let is_word = public_names::is_ordinary(word) || public_names::is_sentence(word);
        if is_name && is_of_name && !is_word && self.is_foreign(at) {
            self.hide(at);
        }
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
        // `pods "Y" is forbidden: User "system:serviceaccount:X:Z" cannot …`
        self.beside(at);
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
        if !is_pair {
            return;
        }
        // `pod(s) X/Y`
        let is_either = self.before(at).starts_with(')') && self.back(at, 1) == "s";
        let is_next = self.follows_pair(at);
        let joined = match is_either || is_next {
            true => Some(Joiner::Sign),
            false => join(self.before(at)),
        };
        let Some(join) = joined.filter(|_| !self.before(at).ends_with(['/', '-'])) else {
            return;
        };
        let head = self.back(at, 1 + usize::from(is_either));
        let is_headed = match head {
            _ if is_next => true,
            // As a verdict says it.
            "for" => self.back(at, 2) == "room" && join == Joiner::Space,
            "by" => TAKERS.contains(&self.back(at, 2)) && join == Joiner::Space,
            // A name with a slash is a key of a label or a resource.
            "name" => false,
            head => is_kind(head) || PAIRED.contains(&head) || head == "victims",
        };
        let is_word = public_names::is_sentence(word)
            || public_names::is_ordinary(word) && !self.judge.is_known(word)
            || is_kind(word)
            || self.judge.is_own(word);
        let is_own = self.judge.is_own(of);
        if is_headed {
            self.last_pair = Some(at);
        }
        if !is_headed || is_word || !self.is_foreign(at) {
            return;
        }
        self.hide(at);
        if !is_own {
            self.dotted(at + 1);
        }
    }

    /// `…, X/Y` and `… and X/Y` behind another pair.
    fn follows_pair(&self, at: usize) -> bool {
        let behind = |by: usize| {
            at.checked_sub(by)
                .is_some_and(|at| self.last_pair == Some(at))
        };
        let is_listed = [", ", ","].contains(&self.before(at));
        (is_listed && behind(2))
            || (self.back(at, 1) == "and" && self.before(at) == " " && behind(3))
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
