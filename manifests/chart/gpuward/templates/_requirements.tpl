{{/* The requirements of the policy that the values do not meet: one failure that names all of them. */}}

{{/* Every list of steps that the mode takes up, as far as it does: JSON of [{where, steps}]. */}}
{{- define "gpuward.takenLists" -}}
{{- $policy := include "gpuward.policy" . | fromYaml }}
{{- $modes := (.Files.Get "files/plans.yaml" | fromYaml).modes }}
{{- $lists := list }}
{{- range $severity, $plan := include "gpuward.plans" . | fromJson }}
{{- $lists = append $lists (dict "where" (printf "severity %s" $severity) "steps" $plan.taken) }}
{{- end }}
{{- $mode := $policy.mode | default "observe" }}
{{- if eq $mode "full" }}
{{- range $severity, $steps := ($policy.recovery | default $policy.way_back) }}
{{- $lists = append $lists (dict "where" (printf "recovery.%s" $severity) "steps" (include "gpuward.steps" $steps | fromJsonArray)) }}
{{- end }}
{{- end }}
{{- range $pool := $policy.pools }}
{{- range $severity, $steps := $pool.severities }}
{{- $in := dict "mode" ($pool.mode | default $mode) "modes" $modes "steps" (include "gpuward.steps" $steps | fromJsonArray) }}
{{- $lists = append $lists (dict "where" (printf "severity %s of pool %s" $severity $pool.name) "steps" (include "gpuward.inMode" $in | fromJson).taken) }}
{{- end }}
{{- if eq ($pool.mode | default $mode) "full" }}
{{- range $severity, $steps := ($pool.recovery | default $pool.way_back) }}
{{- $lists = append $lists (dict "where" (printf "recovery.%s of pool %s" $severity $pool.name) "steps" (include "gpuward.steps" $steps | fromJsonArray)) }}
{{- end }}
{{- end }}
{{- end }}
{{- toJson $lists }}
{{- end }}

{{/* Whether a drain with these settings may delete pods; empty if it may not. */}}
{{- define "gpuward.deletesPods" -}}
{{- if eq (.on_deadline | default "") "delete" }}true{{ end }}
{{- range .namespaces }}{{ if eq (.mode | default "") "delete" }}true{{ end }}{{ end }}
{{- end }}

{{- define "gpuward.waysToReboot" -}}
set remediator.policy.machines.aws.reboot=true, remediator.policy.machines.reboot to your program, or remediator.grants.rebootJob=true, with which a privileged Job on the node restarts it
{{- end }}

{{/* What one step lacks, a line each. In: root, policy, where, step. */}}
{{- define "gpuward.stepLacks" -}}
{{- $values := .root.Values }}
{{- $grants := $values.remediator.grants }}
{{- $machines := .policy.machines | default dict }}
{{- $jobs := .policy.jobs | default dict }}
{{- $name := .step.name }}
{{- $settings := .step.settings }}
{{- $has := printf "%s has the step %s" .where $name }}
{{- if and (eq $name "drain") (include "gpuward.deletesPods" (mergeOverwrite (deepCopy (.policy.drain | default dict)) $settings)) (not $grants.deletePods) }}
{{ .where }} has a drain that deletes pods, a right that is not granted: set remediator.grants.deletePods=true
{{- end }}
{{- if and (eq $name "reboot") (not (include "gpuward.canReboot" .policy)) }}
{{ $has }}, and nothing restarts machines: {{ include "gpuward.waysToReboot" . }}
{{- end }}
{{- $isJob := has $name (list "collect-evidence" "gpu-reset" "quarantine-job" "nccl-test" "nccl-pairs") }}
{{- if and (eq $name "reboot") (dig "job" "reboot" false $machines) }}
{{- $isJob = true }}
{{- if not $grants.rebootJob }}
{{ $has }}, and machines.job.reboot is on without its right: set remediator.grants.rebootJob=true
{{- end }}
{{- end }}
{{- if and (eq $name "terminate") (not (or $grants.terminate (dig "aws" "terminate" false $machines) $machines.terminate)) }}
{{ $has }}, and nothing ends machines: set remediator.grants.terminate=true where NodeClaims or Machines own them, remediator.policy.machines.aws.terminate=true, or remediator.policy.machines.terminate and .is_gone to your programs; or give the severity a list without the step
{{- end }}
{{- if and (eq $name "restart-job") (not $settings.program) (not $grants.restartJob) }}
{{ $has }} without a program, a right that is not granted: set remediator.grants.restartJob=true
{{- end }}
{{- if $isJob }}
{{- $templates := $jobs.templates | default dict }}
{{- $ownTemplate := or (get $templates $name) (get $templates (printf "%s-amd" $name)) }}
{{- if not (or $grants.jobs (eq $name "reboot")) }}
{{ $has }}, a Job, which it has no right to make: set remediator.grants.jobs=true
{{- end }}
{{- if not (or $jobs.image $ownTemplate) }}
{{ $has }}, a Job, and no image: set remediator.policy.jobs.image to an image of the exporter
{{- end }}
{{- if and (not $ownTemplate) (eq ($jobs.image | default "") (include "gpuward.exporterImage" .root)) (has $name (list "quarantine-job" "nccl-test" "nccl-pairs")) }}
{{ $has }}, and remediator.policy.jobs.image is the exporter's own image, which has none of the programs of the diagnostics: set it to an image that has them (docs/install.md)
{{- end }}
{{- if and $values.exporter.enabled (ne ($jobs.namespace | default "gpu-healthcheck") $values.exporter.namespace) }}
{{ $has }}, a Job in the namespace {{ $jobs.namespace | default "gpu-healthcheck" }}, where it has neither rights nor accounts: set remediator.policy.jobs.namespace={{ $values.exporter.namespace }}
{{- end }}
{{- end }}
{{- end }}

{{/* Files that the policy names but that are not in the pod, a line each. */}}
{{- define "gpuward.filesLack" -}}
{{- $policy := include "gpuward.policy" . | fromYaml }}
{{- $mounts := list }}
{{- range .Values.remediator.volumeMounts }}{{ $mounts = append $mounts (trimSuffix "/" .mountPath) }}{{ end }}
{{- if .Values.remediator.jobTemplates.mount }}{{ $mounts = append $mounts "/etc/gpuward-jobs" }}{{ end }}
{{- $files := dict }}
{{- range $sink := dig "sinks" list ($policy.notifications | default dict) }}
{{- range $kind := list "slack" "webhook" }}
{{- range $key := list "url_file" "bearer_token_file" }}
{{- with dig $kind $key "" $sink }}
{{- $_ := set $files (printf "remediator.policy.notifications: %s of the sink %s" $key $sink.name) . }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- $templates := .Values.remediator.jobTemplates }}
{{- $compared := and (or .Values.remediator.grants.jobs .Values.remediator.grants.rebootJob) .Values.remediator.admission.enabled .Values.remediator.admission.jobs }}
{{- range $step, $file := dig "templates" dict ($policy.jobs | default dict) }}
{{- $_ := set $files (printf "remediator.policy.jobs.templates.%s" $step) $file }}
{{- $known := and $templates.mount (eq $file (printf "/etc/gpuward-jobs/%s.json" $step)) }}
{{- if and $compared (not (or $known (hasKey $templates.files $step) (has (trimSuffix "-amd" $step) $templates.unchecked))) }}
remediator.policy.jobs.templates.{{ $step }} is a file that the chart does not have, and the API server would refuse its Jobs: set remediator.jobTemplates.files.{{ $step }} to its text (--set-file), or name the step in remediator.jobTemplates.unchecked
{{- end }}
{{- end }}
{{- with dig "openai" "api_key_file" "" ($policy.triage | default dict) }}
{{- $_ := set $files "remediator.policy.triage.openai.api_key_file" . }}
{{- end }}
{{- range $what, $file := $files }}
{{- $mounted := false }}
{{- range $mounts }}{{ if or (eq $file .) (hasPrefix (printf "%s/" .) $file) }}{{ $mounted = true }}{{ end }}{{ end }}
{{- if not $mounted }}
{{ $what }} is {{ $file }}, and nothing is mounted there: {{ if hasPrefix "/etc/gpuward-jobs/" $file }}set remediator.jobTemplates.mount=true{{ else }}add its Secret or ConfigMap to remediator.volumes, and the folder to remediator.volumeMounts{{ end }}
{{- end }}
{{- end }}
{{- $volumes := list }}
{{- range .Values.remediator.volumes }}{{ $volumes = append $volumes .name }}{{ end }}
{{- range .Values.remediator.volumeMounts }}
{{- if not (has .name (concat $volumes (list "policy" "webhook" "jobs"))) }}
remediator.volumeMounts mounts {{ .name }} at {{ .mountPath }}, and no volume has that name: add it to remediator.volumes
{{- end }}
{{- end }}
{{- end }}

{{/* Secrets that a pod waits for and that are not in the cluster, a line each; none without a cluster. */}}
{{- define "gpuward.secretsLack" -}}
{{- if and .Values.remediator.checkSecrets (lookup "v1" "Namespace" "" "default") }}
{{- $namespace := include "gpuward.remediatorNamespace" . }}
{{- $needed := list }}
{{- $keys := dict "tlsSecret" (list "tls.crt" "tls.key" "ca.crt") "clientSecret" (list "ca.crt" "tls.crt" "tls.key") "tokenSecret" (list "token") "existingSecret" (list "token") "usersSecret" (list "users") }}
{{- $listeners := dict }}
{{- if .Values.exporter.enabled }}{{ $_ := set $listeners "exporter.web" (list .Values.exporter.namespace .Values.exporter.web) }}{{ end }}
{{- if .Values.remediator.enabled }}
{{- $_ := set $listeners "remediator.webhook" (list $namespace .Values.remediator.webhook) }}
{{- $_ := set $listeners "remediator.telemetry" (list $namespace .Values.remediator.telemetry) }}
{{- range .Values.remediator.volumes }}
{{- if and .secret (not (dig "optional" false (.secret | default dict))) }}{{ $needed = append $needed (list $namespace .secret.secretName "remediator.volumes" list) }}{{ end }}
{{- end }}
{{- end }}
{{- range $listener, $at := $listeners }}
{{- range $value, $of := $keys }}
{{- with get (index $at 1) $value }}{{ $needed = append $needed (list (index $at 0) . (printf "%s.%s" $listener $value) $of) }}{{ end }}
{{- end }}
{{- end }}
{{- range $needed }}
{{- $in := index . 0 }}
{{- $secret := index . 1 }}
{{- $by := index . 2 }}
{{- $there := lookup "v1" "Secret" $in $secret }}
{{- if not $there }}
{{ $by }} names the Secret {{ $secret }}, which the namespace {{ $in }} does not have: make it (kubectl -n {{ $in }} create secret generic {{ $secret }} ...), or set remediator.checkSecrets=false where something else makes it later
{{- else }}
{{- range index . 3 }}
{{- if not (get ($there.data | default dict) . | b64dec | trim) }}
{{ $by }} names the Secret {{ $secret }} of the namespace {{ $in }}, which has nothing under the key {{ . }}: add it, or set remediator.checkSecrets=false if nothing needs it
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Fails where such a Secret is missing: of an install without the remediator. */}}
{{- define "gpuward.exporterSecrets" -}}
{{- with include "gpuward.secretsLack" . | trim | splitList "\n" | compact | uniq }}
{{- fail (printf "\nthe exporter needs what the cluster does not have:\n- %s" (join "\n- " .)) }}
{{- end }}
{{- end }}

{{- define "gpuward.requirements" -}}
{{- $root := . }}
{{- $policy := include "gpuward.policy" . | fromYaml }}
{{- $lacks := list }}
{{- $disruptive := "" }}
{{- if and .Values.exporter.enabled .Values.remediator.enabled (eq .Values.exporter.namespace (include "gpuward.remediatorNamespace" .)) }}
{{- $lacks = append $lacks "the exporter and the remediator are in one namespace, in which the remediator may create ConfigMaps that the exporter reads: set exporter.namespace to another one" }}
{{- end }}
{{- range $taken := include "gpuward.takenLists" . | fromJsonArray }}
{{- range $taken.steps }}
{{- $lacks = concat $lacks (include "gpuward.stepLacks" (dict "root" $root "policy" $policy "where" $taken.where "step" .) | trim | splitList "\n") }}
{{- if has .name (list "drain" "gpu-reset" "reboot" "terminate") }}
{{- $disruptive = $disruptive | default (printf "%s has the step %s" $taken.where .name) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and $disruptive (not (or .Values.remediator.prometheusURL (contains "--prometheus.url" (join " " .Values.remediator.args)))) }}
{{- $lacks = append $lacks (printf "%s, before which the reports of the exporter are read from Prometheus: set remediator.prometheusURL" $disruptive) }}
{{- end }}
{{- if and (eq .Values.remediator.preset "full") (eq $policy.mode "full") (not (hasKey ($policy.severities | default dict) "reboot")) (not (include "gpuward.canReboot" $policy)) }}
{{- $lacks = append $lacks (printf "remediator.preset is full, and nothing restarts machines: %s" (include "gpuward.waysToReboot" .)) }}
{{- end }}
{{- if and .Values.remediator.lokiURL (not .Values.remediator.grants.loki) }}
{{- $lacks = append $lacks "remediator.lokiURL is read with a cursor, a ConfigMap that it has no right to write: set remediator.grants.loki=true" }}
{{- end }}
{{- $lacks = concat $lacks (include "gpuward.filesLack" . | trim | splitList "\n") }}
{{- $lacks = concat $lacks (include "gpuward.secretsLack" . | trim | splitList "\n") }}
{{- with compact $lacks | uniq }}
{{- fail (printf "\nthe policy needs what the values do not give:\n- %s" (join "\n- " .)) }}
{{- end }}
{{- end }}
