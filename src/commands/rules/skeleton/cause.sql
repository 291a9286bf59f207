-- cause: CAUSE
-- title: Tainted for repair
-- rank: 110
-- level: established
-- needs: k8s.node.tainted.no_execute
-- overturned_by: audit: who tainted the node
-- summary: {node} was tainted for repair; {pod} {was} on it.
-- advice: Ask the team that repairs nodes when {node} is back.
--
-- The header above is read by the tool; `whathappened rules columns` explains its placeholders
-- and the tables below. Of two causes that are equally well proven, the one with the higher rank
-- leads (`whathappened rules list` shows all ranks). `level` is the highest level this rule may
-- reach, `needs` the signals without which the statement is not run, `overturned_by` the kind of
-- evidence that could prove it wrong: where that is missing, the answer says so.
--
-- The statement returns one row for each step: `cause` led to `effect`, or to the death itself
-- where `effect` is NULL. `edge` says how sure that is (asserted, inferred, guess, context or
-- against), `role` what the cause is (act, fault, claim or state).
--
-- Ask what else could produce the same records, and what happens afterwards; then write these
-- cases as `silent` examples in the file beside this one.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal = 'k8s.node.tainted.no_execute' AND via = 'node' AND detail = 'example.com/repair'
  AND mode = 'killed' AND lag_s BETWEEN -2 AND 120
