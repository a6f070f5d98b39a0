{{/* Definitions that several templates share. */}}

{{- define "gpuward.remediatorNamespace" -}}
{{ .Values.remediator.namespace | default .Release.Namespace }}
{{- end }}

{{/* Of the labels, and what names begin with. Not everything has such a name: the programs know their ServiceAccounts, the
exporter's ConfigMap, the switch and the ledger by theirs. */}}
{{- define "gpuward.name" -}}
{{ .Values.nameOverride | default "gpuward" }}
{{- end }}

{{- define "gpuward.fullname" -}}
{{ .Values.fullnameOverride | default (include "gpuward.name" .) }}
{{- end }}

{{/* app.kubernetes.io/name. In: root, and exporter, remediator, gpuward, or a name of its own. */}}
{{- define "gpuward.appName" -}}
{{- $role := index . 1 }}
{{- if has $role (list "exporter" "remediator") }}{{ include "gpuward.name" (index . 0) }}-{{ $role }}
{{- else if eq $role "gpuward" }}{{ include "gpuward.name" (index . 0) }}
{{- else }}{{ $role }}
{{- end }}
{{- end }}

{{/* Of every object. In: root, whose (gpuward.appName), component. */}}
{{- define "gpuward.labels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "gpuward.appName" . }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/component: {{ index . 2 }}
app.kubernetes.io/part-of: gpuward
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- end }}

{{/* In: root, and one of `images`. A digest is more than a tag. */}}
{{- define "gpuward.image" -}}
{{- $image := index . 1 }}
{{- $image.repository }}{{ if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default (index . 0).Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "gpuward.exporterImage" -}}
{{ include "gpuward.image" (list . .Values.images.exporter) }}
{{- end }}

{{- define "gpuward.diagnosticsImage" -}}
{{ include "gpuward.image" (list . (ternary .Values.images.diagnostics .Values.images.exporter (not (empty .Values.images.diagnostics.repository)))) }}
{{- end }}

{{- define "gpuward.diagnosticsPullPolicy" -}}
{{ ternary .Values.images.diagnostics .Values.images.exporter (not (empty .Values.images.diagnostics.repository)) | dig "pullPolicy" "IfNotPresent" }}
{{- end }}

{{- define "gpuward.exporterHost" -}}
{{ include "gpuward.fullname" . }}-exporter.{{ .Values.exporter.namespace }}.svc
{{- end }}

{{- define "gpuward.remediatorHost" -}}
{{ include "gpuward.fullname" . }}-remediator.{{ include "gpuward.remediatorNamespace" . }}.svc
{{- end }}

{{/* The names of the remediator's pages in a browser: of its Service, and of externalURL. */}}
{{- define "gpuward.pageHosts" -}}
{{- $service := printf "%s-remediator" (include "gpuward.fullname" .) }}
{{- $hosts := list $service (printf "%s.%s" $service (include "gpuward.remediatorNamespace" .)) }}
{{- with .Values.externalURL }}{{ $hosts = append $hosts (urlParse .).hostname }}{{ end }}
{{- join "," $hosts }}
{{- end }}

{{/* The preset of names that the exporters use on their nodes. By default an upgrade keeps the preset of the ConfigMap in
the cluster; a ConfigMap without one is of a chart whose default was aws-samples. Without a cluster it is gpuward. */}}
{{- define "gpuward.nodePreset" -}}
{{- $there := lookup "v1" "ConfigMap" .Values.exporter.namespace "gpuward-exporter" }}
{{- $kept := "gpuward" }}
{{- if $there }}
{{- $kept = dig "node" "preset" "aws-samples" (dig "data" "config.yaml" "" $there | fromYaml) }}
{{- end }}
{{- dig "node" "preset" "" .Values.exporter.config | default $kept }}
{{- end }}

{{/* The prefix of labels and taints with that preset. */}}
{{- define "gpuward.nodePrefix" -}}
{{ ternary "gpu-healthcheck.aws-samples.io" "gpuward.dev" (eq (include "gpuward.nodePreset" .) "aws-samples") }}
{{- end }}

{{- define "gpuward.exporterConfig" -}}
{{- $node := dict "node" (dict "preset" (include "gpuward.nodePreset" .)) }}
{{- toYaml (mustMergeOverwrite (deepCopy .Values.exporter.config) $node) }}
{{- end }}

{{- define "gpuward.webhookSecret" -}}
{{ .Values.remediator.webhook.existingSecret | default "gpuward-webhook" }}
{{- end }}

{{/* The URL above the runbooks, each by the name of its alert; empty if no value gives one. */}}
{{- define "gpuward.runbookURL" -}}
{{- if .Values.runbookURL }}{{ trimSuffix "/" .Values.runbookURL }}
{{- else if .Values.externalURL }}{{ trimSuffix "/" .Values.externalURL }}/runbooks
{{- end }}
{{- end }}

{{- define "gpuward.rules" -}}
{{- $rules := .Files.Get "files/gpuward.rules.yaml" | replace "kubectl -n gpuward " (printf "kubectl -n %s " (include "gpuward.remediatorNamespace" .)) }}
{{- $rules = $rules | replace "deploy/gpuward-remediator" (printf "deploy/%s-remediator" (include "gpuward.fullname" .)) }}
{{- with include "gpuward.runbookURL" . }}
{{- $rules = regexReplaceAll "runbook: \".* runbook ([A-Za-z]+)\"" $rules (printf "runbook_url: \"%s/$1\"" .) }}
{{- end }}
{{- with .Values.grafanaURL }}
{{- $rules = replace "dashboard_url: \"/" (printf "dashboard_url: \"%s/" (trimSuffix "/" .)) $rules }}
{{- end }}
{{- if or .Values.prometheusOperator.ruleLabels .Values.prometheusOperator.disabledRules }}
{{- $rules = include "gpuward.chosenRules" (list . ($rules | fromYaml)) }}
{{- end }}
{{- $rules }}
{{- end }}

{{/* Without the alerts that are disabled, the others with the labels of yours. In: root, the rules. */}}
{{- define "gpuward.chosenRules" -}}
{{- $values := (index . 0).Values.prometheusOperator }}
{{- $rules := index . 1 }}
{{- $names := list }}
{{- range $group := $rules.groups }}
{{- $chosen := list }}
{{- range $rule := $group.rules }}
{{- if $rule.alert }}
{{- $names = append $names $rule.alert }}
{{- $_ := set $rule "labels" (merge ($rule.labels | default dict) $values.ruleLabels) }}
{{- end }}
{{- if not (has ($rule.alert | default "") $values.disabledRules) }}{{ $chosen = append $chosen $rule }}{{ end }}
{{- end }}
{{- $_ := set $group "rules" $chosen }}
{{- end }}
{{- range $values.disabledRules }}
{{- if not (has . $names) }}{{ fail (printf "\nprometheusOperator.disabledRules names %s, which no rule of gpuward has: alerts/gpuward.rules.yaml has their names" .) }}{{ end }}
{{- end }}
{{- toYaml $rules }}
{{- end }}

{{- define "gpuward.pullSecrets" -}}
{{- with .Values.images.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* policyTypes of a program's policy: what the values limit of it. Empty where that is nothing: a namespace that is guessed
wrong would block every alert. In: root, exporter or remediator. */}}
{{- define "gpuward.networkPolicyTypes" -}}
{{- $values := (index . 0).Values }}
{{- $policy := $values.networkPolicy }}
{{- $callers := or $policy.from $policy.cidrs }}
{{- if and (eq (toString $policy.enabled) "true") (not $callers) }}
{{- fail "\nnetworkPolicy.enabled, and nobody may call in: set networkPolicy.from to the namespaces of Prometheus and Alertmanager, or networkPolicy.cidrs to their addresses" }}
{{- end }}
{{- $types := list }}
{{- if $callers }}{{ $types = append $types "Ingress" }}{{ end }}
{{- if get $policy.egress (index . 1) }}{{ $types = append $types "Egress" }}{{ end }}
{{- if (get $values (index . 1)).enabled }}{{ join ", " $types }}{{ end }}
{{- end }}

{{- define "gpuward.networkPolicyFrom" -}}
{{- with .Values.networkPolicy.from }}
- namespaceSelector:
    matchExpressions:
      - {key: kubernetes.io/metadata.name, operator: In, values: {{ . | toJson }}}
{{- end }}
{{- range .Values.networkPolicy.cidrs }}
- ipBlock: {cidr: {{ . | quote }}}
{{- end }}
{{- if .Values.tests.enabled }}
- namespaceSelector:
    matchExpressions:
      - {key: kubernetes.io/metadata.name, operator: In, values: {{ list (include "gpuward.remediatorNamespace" .) .Values.exporter.namespace | toJson }}}
  podSelector:
    matchLabels: {app.kubernetes.io/component: test}
{{- end }}
{{- end }}

{{/* Where the remediator's pods run: away from GPU nodes, as their operators and node-feature-discovery label them. Keys of
remediator.affinity replace these. */}}
{{- define "gpuward.remediatorAffinity" -}}
{{- $labels := list }}
{{- range list "nvidia.com/gpu.present" "feature.node.kubernetes.io/pci-10de.present" "feature.node.kubernetes.io/pci-0302_10de.present" "feature.node.kubernetes.io/pci-0300_10de.present" "feature.node.kubernetes.io/amd-gpu" }}
{{- $labels = append $labels (dict "key" . "operator" "NotIn" "values" (list "true")) }}
{{- end }}
{{- $nodes := dict "matchExpressions" $labels }}
{{- $affinity := dict }}
{{- if eq .Values.remediator.gpuNodes "exclude" }}
{{- $affinity = dict "nodeAffinity" (dict "requiredDuringSchedulingIgnoredDuringExecution" (dict "nodeSelectorTerms" (list $nodes))) }}
{{- else if eq .Values.remediator.gpuNodes "avoid" }}
{{- $affinity = dict "nodeAffinity" (dict "preferredDuringSchedulingIgnoredDuringExecution" (list (dict "weight" 100 "preference" $nodes))) }}
{{- end }}
{{- with mustMergeOverwrite $affinity (deepCopy .Values.remediator.affinity) }}{{ toYaml . }}{{ end }}
{{- end }}

{{/* The same nodes for the other pods that hold a secret: of the sweep, and of `helm test`. */}}
{{- define "gpuward.nodeAffinity" -}}
{{- with (include "gpuward.remediatorAffinity" . | fromYaml).nodeAffinity }}{{ dict "nodeAffinity" . | toYaml }}{{ end }}
{{- end }}

{{/* The configuration of an Alertmanager without the operator. */}}
{{- define "gpuward.alertmanager" -}}
{{- $text := .Files.Get "files/alertmanager.yaml" | replace "gpuward-remediator.gpuward.svc" (include "gpuward.remediatorHost" .) }}
{{- $webhook := .Values.remediator.webhook }}
{{- if $webhook.tlsSecret }}
{{- $token := "            credentials_file: /etc/alertmanager/gpuward-token\n" }}
{{- $files := "ca_file: /etc/alertmanager/gpuward-ca.crt" }}
{{- if $webhook.clientSecret }}{{ $files = printf "%s, cert_file: /etc/alertmanager/gpuward-client.crt, key_file: /etc/alertmanager/gpuward-client.key" $files }}{{ end }}
{{- $text = $text | replace "http://" "https://" | replace $token (printf "%s          tls_config: {%s}\n" $token $files) }}
{{- end }}
{{- $text }}
{{- end }}
