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
