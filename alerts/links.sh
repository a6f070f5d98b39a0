#!/bin/sh
# Rules with links that people can click, on stdout, of the rules on stdin:
#   RUNBOOK_URL=https://gpuward.example/runbooks GRAFANA_URL=https://grafana.example alerts/links.sh < alerts/gpuward.rules.yaml
# RUNBOOK_URL is the URL above the runbooks, each by the name of its alert, as the remediator serves them; GRAFANA_URL is
# the root of your Grafana. Links without a given URL are not changed.
set -eu
sed ${RUNBOOK_URL:+-e "s|runbook: \".* runbook \\([A-Za-z]*\\)\"|runbook_url: \"${RUNBOOK_URL%/}/\\1\"|"} \
  ${GRAFANA_URL:+-e "s|dashboard_url: \"/|dashboard_url: \"${GRAFANA_URL%/}/|"} -e ''
