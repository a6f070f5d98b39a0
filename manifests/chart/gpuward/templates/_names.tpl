{{/* What several templates say alike. */}}

{{- define "gpuward.remediatorNamespace" -}}
{{ .Values.remediator.namespace | default .Release.Namespace }}
{{- end }}

{{- define "gpuward.exporterImage" -}}
{{ .Values.images.exporter.repository }}:{{ .Values.images.exporter.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "gpuward.remediatorImage" -}}
{{ .Values.images.remediator.repository }}:{{ .Values.images.remediator.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "gpuward.diagnosticsImage" -}}
{{- with .Values.images.diagnostics -}}
{{- if .repository }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ else }}{{ include "gpuward.exporterImage" $ }}{{ end }}
{{- end }}
{{- end }}

{{- define "gpuward.diagnosticsPullPolicy" -}}
{{ ternary .Values.images.diagnostics .Values.images.exporter (not (empty .Values.images.diagnostics.repository)) | dig "pullPolicy" "IfNotPresent" }}
{{- end }}

{{- define "gpuward.webhookSecret" -}}
{{ .Values.remediator.webhook.existingSecret | default "gpuward-webhook" }}
{{- end }}

{{/* Below it the runbook of each alert lies by its name; empty where nobody says so. */}}
{{- define "gpuward.runbookURL" -}}
{{- if .Values.runbookURL }}{{ trimSuffix "/" .Values.runbookURL }}
{{- else if .Values.externalURL }}{{ trimSuffix "/" .Values.externalURL }}/runbooks
{{- end }}
{{- end }}

{{- define "gpuward.rules" -}}
{{- $rules := .Files.Get "files/gpuward.rules.yaml" | replace "kubectl -n gpuward " (printf "kubectl -n %s " (include "gpuward.remediatorNamespace" .)) }}
{{- with include "gpuward.runbookURL" . }}
{{- $rules = regexReplaceAll "runbook: \".* runbook ([A-Za-z]+)\"" $rules (printf "runbook_url: \"%s/$1\"" .) }}
{{- end }}
{{- with .Values.grafanaURL }}
{{- $rules = replace "dashboard_url: \"/" (printf "dashboard_url: \"%s/" (trimSuffix "/" .)) $rules }}
{{- end }}
{{- $rules }}
{{- end }}

{{- define "gpuward.pullSecrets" -}}
{{- with .Values.images.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "gpuward.networkPolicyFrom" -}}
- namespaceSelector:
    matchExpressions:
      - {key: kubernetes.io/metadata.name, operator: In, values: {{ .Values.networkPolicy.from | toJson }}}
{{- range .Values.networkPolicy.cidrs }}
- ipBlock: {cidr: {{ . | quote }}}
{{- end }}
{{- end }}
