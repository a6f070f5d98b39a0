{{/* The policy of the remediator, and its steps. */}}

{{/* The preset, with the user's own keys over it. */}}
{{- define "gpuward.policy" -}}
{{- $preset := .Files.Get (printf "files/presets/%s.yaml" .Values.remediator.preset) | fromYaml }}
{{- $policy := mergeOverwrite $preset (deepCopy .Values.remediator.policy) }}
{{- with include "gpuward.runbookURL" . }}
{{- $policy = merge $policy (dict "notifications" (dict "runbook_url" .)) }}
{{- end }}
{{- $machines := $policy.machines | default dict }}
{{- if and .Values.remediator.grants.rebootJob (not $machines.reboot) (not (hasKey ($machines.job | default dict) "reboot")) }}
{{- $policy = merge $policy (dict "machines" (dict "job" (dict "reboot" true))) }}
{{- end }}
{{- range prepend ($policy.pools | default list) $policy }}
{{- if hasKey . "recovery" }}{{ $_ := unset . "way_back" }}{{ end }}
{{- if hasKey . "min_drain_interval" }}{{ $_ := unset . "drain_buffer" }}{{ end }}
{{- end }}
{{- toYaml $policy }}
{{- end }}

{{/* A list of steps in the policy's own words: JSON of [{name, settings, approval}]. */}}
{{- define "gpuward.steps" -}}
{{- $steps := list }}
{{- $wait := dict }}
{{- range . }}
{{- $item := . }}
{{- if kindIs "string" . }}{{ $item = dict . dict }}{{ end }}
{{- range $name, $settings := $item }}
{{- if eq $name "wait" }}
{{- $wait = $settings | default dict }}
{{- else }}
{{- $steps = append $steps (dict "name" $name "settings" ($settings | default dict) "approval" (dig "approval" (eq $name "terminate") $wait)) }}
{{- $wait = dict }}
{{- end }}
{{- end }}
{{- end }}
{{- toJson $steps }}
{{- end }}

{{/* The steps that the mode takes, and those that it leaves out: JSON of {taken, left}. */}}
{{- define "gpuward.inMode" -}}
{{- $allowed := get .modes .mode }}
{{- $taken := list }}
{{- $left := list }}
{{- range .steps }}
{{- if and (not $left) (or (eq $.mode "full") (has .name $allowed)) }}
{{- $taken = append $taken . }}
{{- else }}
{{- $left = append $left . }}
{{- end }}
{{- end }}
{{- dict "taken" $taken "left" $left | toJson }}
{{- end }}

{{/* Whether the policy can restart machines; empty if it cannot. */}}
{{- define "gpuward.canReboot" -}}
{{- $machines := .machines | default dict }}
{{- if or (dig "aws" "reboot" false $machines) (dig "job" "reboot" false $machines) $machines.reboot }}true{{ end }}
{{- end }}

{{/* For each severity what the policy does to a node that belongs to no pool: JSON of {severity: {taken, left}}. */}}
{{- define "gpuward.plans" -}}
{{- $policy := include "gpuward.policy" . | fromYaml }}
{{- $known := .Files.Get "files/plans.yaml" | fromYaml }}
{{- $plans := get $known ($policy.preset | default "standard") }}
{{- if ne ($policy.preset | default "standard") "health-suite" }}
{{- if not (include "gpuward.canReboot" $policy) }}
{{- $_ := set $plans "reboot" (get $known "without-means") }}
{{- end }}
{{- if not (or (dig "image" "" ($policy.jobs | default dict)) (dig "templates" "gpu-reset" "" ($policy.jobs | default dict)) (dig "templates" "gpu-reset-amd" "" ($policy.jobs | default dict))) }}
{{- $_ := set $plans "reset" (get $known "without-means") }}
{{- end }}
{{- end }}
{{- $out := dict }}
{{- range $severity := list "isolate" "reboot" "reset" }}
{{- $steps := get $plans $severity }}
{{- if hasKey ($policy.severities | default dict) $severity }}{{ $steps = get $policy.severities $severity | default list }}{{ end }}
{{- $in := dict "mode" ($policy.mode | default "observe") "modes" $known.modes "steps" (include "gpuward.steps" $steps | fromJsonArray) }}
{{- $_ := set $out $severity (include "gpuward.inMode" $in | fromJson) }}
{{- end }}
{{- toJson $out }}
{{- end }}

{{/* Names of steps for a sentence. */}}
{{- define "gpuward.namesOfSteps" -}}
{{- $names := list }}
{{- range . }}
{{- $names = append $names (printf "%s%s" .name (ternary " (after an operator's approval)" "" .approval)) }}
{{- end }}
{{- join ", " $names }}
{{- end }}
