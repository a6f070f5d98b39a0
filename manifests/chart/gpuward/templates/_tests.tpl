{{/* The common parts of the pods of `helm test`. */}}

{{/* In: root, what is tested, the order. */}}
{{- define "gpuward.testMetadata" -}}
{{- $root := index . 0 -}}
name: gpuward-test{{ with index . 1 }}-{{ . }}{{ end }}
labels:
  {{- include "gpuward.labels" (list $root "gpuward" "test") | nindent 2 }}
annotations:
  helm.sh/hook: test
  helm.sh/hook-weight: {{ index . 2 | quote }}
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{/* What the pod needs to call a listener, mounted below /run: JSON of {name: volume}. In: root, web or webhook. */}}
{{- define "gpuward.testSecrets" -}}
{{- $values := (index . 0).Values }}
{{- $volumes := dict }}
{{- if and (eq (index . 1) "web") (include "gpuward.webConfig" (list "web" $values.exporter.web)) }}
{{- $_ := set $volumes "web" (include "gpuward.clientVolume" (list "web" $values.exporter.web) | fromYaml) }}
{{- end }}
{{- if and (eq (index . 1) "webhook") $values.remediator.enabled }}
{{- $_ := set $volumes "webhook" (include "gpuward.clientVolume" (list "webhook" (include "gpuward.webhookWithToken" (index . 0) | fromJson)) | fromYaml) }}
{{- end }}
{{- toJson $volumes }}
{{- end }}

{{/* In: root, the listener that it calls: web or webhook. */}}
{{- define "gpuward.testPod" -}}
{{- $root := index . 0 }}
{{- with include "gpuward.pullSecrets" $root -}}
{{- trim . }}
{{ end -}}
restartPolicy: Never
{{- with include "gpuward.nodeAffinity" $root }}
affinity:
  {{- . | nindent 2 }}
{{- end }}
activeDeadlineSeconds: 300
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
volumes:
  - {name: scratch, emptyDir: {sizeLimit: 16Mi}}
  {{- range include "gpuward.testSecrets" . | fromJson }}
  - {{ toJson . }}
  {{- end }}
{{- end }}

{{/* In: root, the listener that its pod calls. */}}
{{- define "gpuward.testContainer" -}}
{{- $root := index . 0 -}}
image: {{ include "gpuward.exporterImage" $root }}
imagePullPolicy: {{ $root.Values.images.exporter.pullPolicy }}
resources:
  requests: {cpu: 20m, memory: 32Mi, ephemeral-storage: 16Mi}
  limits: {memory: 128Mi}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: scratch, mountPath: /scratch}
  {{- range $name, $_ := include "gpuward.testSecrets" . | fromJson }}
  - {name: {{ $name }}, mountPath: /run/{{ $name }}, readOnly: true}
  {{- end }}
{{- end }}
