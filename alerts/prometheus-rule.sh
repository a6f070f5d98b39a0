#!/bin/sh
# The rules as a PrometheusRule for the prometheus-operator, on stdout. After each change of gpuward.rules.yaml:
#   alerts/prometheus-rule.sh > manifests/prometheus-rule.yaml
set -eu
cat <<'EOF'
# Made from alerts/gpuward.rules.yaml by alerts/prometheus-rule.sh; a test compares them.
# Prometheus loads it only if its `ruleSelector` selects these labels: for kube-prometheus-stack add `release`.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: gpuward
  namespace: gpuward
  labels: {app.kubernetes.io/name: gpuward}
spec:
EOF
sed -n '/^groups:/,$ { s/^\(.\)/  \1/; p; }' "$(dirname "$0")/gpuward.rules.yaml"
