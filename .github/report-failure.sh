#!/usr/bin/env bash
# Open an issue that a scheduled run failed, or add to the open one. TITLE, RESULT and HINT are given by the workflow.
set -euo pipefail
export GH_REPO="$GITHUB_REPOSITORY"
body="The run ended with: $RESULT.

$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID

$HINT"
# By title among the open ones: a search would lag behind by minutes.
number=$(gh issue list --state open --limit 500 --json number,title \
  --jq 'map(select(.title == env.TITLE)) | first | .number // empty')
if [ -n "$number" ]; then
  gh issue comment "$number" --body "$body"
else
  gh issue create --title "$TITLE" --body "$body"
fi
