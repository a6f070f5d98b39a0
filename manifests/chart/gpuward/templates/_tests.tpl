{{/* What the pods of `helm test` have in common. */}}

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

{{- define "gpuward.testPod" -}}
{{- with include "gpuward.pullSecrets" . -}}
{{- trim . }}
{{ end -}}
restartPolicy: Never
activeDeadlineSeconds: 300
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
volumes:
  - {name: scratch, emptyDir: {sizeLimit: 16Mi}}
  {{- if .Values.remediator.enabled }}
  - name: webhook
    secret: {secretName: {{ include "gpuward.webhookSecret" . }}}
  {{- end }}
{{- end }}

{{- define "gpuward.testContainer" -}}
image: {{ include "gpuward.exporterImage" . }}
imagePullPolicy: {{ .Values.images.exporter.pullPolicy }}
resources:
  requests: {cpu: 20m, memory: 32Mi, ephemeral-storage: 16Mi}
  limits: {memory: 128Mi}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: scratch, mountPath: /scratch}
  {{- if .Values.remediator.enabled }}
  - {name: webhook, mountPath: /run/webhook, readOnly: true}
  {{- end }}
{{- end }}
