{{/* The Jobs that the remediator and the sweeper may create, as CEL. Those of the remediator come from the same
templates that the program fills in. */}}

{{/* What the API server compares with a placeholder of a template. `is`: CEL, if the Job itself or the ConfigMap
gpuward-job-values has the value. `like`: a pattern, if the value varies or is in one word with a value that varies. */}}
{{- define "gpuward.placeholders" -}}
NODE_NAME: {is: variables.pod.nodeName, like: "[a-z0-9.-]+"}
BOOT_ID: {is: "variables.labels[?'gpuward.dev/boot-id'].orValue('')", like: "[0-9A-Za-z._-]*"}
TIMEOUT: {is: "string(object.spec.activeDeadlineSeconds) + 's'", like: "[0-9]+s"}
SECONDS: {is: object.spec.activeDeadlineSeconds}
REMEDIATION: {is: "variables.annotations[?'gpuward.dev/remediation'].orValue('')", like: "[a-z0-9.-]+"}
IMAGE: {is: variables.image}
SERVICE_ACCOUNT: {is: "variables.values[?'service-account'].orValue('')"}
EVIDENCE_SERVICE_ACCOUNT: {is: "variables.values[?'evidence-service-account'].orValue('')"}
UPLOAD: {is: "variables.values[?'upload'].orValue('')"}
PAUSE_UNITS: {is: "variables.values[?'pause-units'].orValue('')"}
PORT: {is: "variables.values[?'pair-port'].orValue('')"}
GPU_VENDOR: {like: "(nvidia|amd)"}
CLEARS_LATCHED: {like: "(true|false)"}
MIN_BUS_BANDWIDTH: {like: "[0-9]+([.][0-9]+)?(e[+-]?[0-9]+)?"}
RANK: {like: "[01]"}
ADDRESS: {like: "[0-9A-Fa-f.:]+"}
TOKEN: {like: "[0-9A-Za-z]+"}
SWEPT_NODE: {like: "[a-z0-9.-]+"}
PULL_POLICY: {like: "(Always|IfNotPresent)"}
{{- end }}

{{/* The names of the placeholders in a text, JSON. Another $(NAME) is text: Kubernetes puts variables of the container in. */}}
{{- define "gpuward.placeholdersIn" -}}
{{- $known := include "gpuward.placeholders" . | fromYaml }}
{{- $names := list }}
{{- range regexFindAll "\\$\\([A-Z_]+\\)" . -1 }}
{{- $name := . | trimPrefix "$(" | trimSuffix ")" }}
{{- if hasKey $known $name }}{{ $names = append $names $name }}{{ end }}
{{- end }}
{{- $names | uniq | toJson }}
{{- end }}

{{/* Whether a text has a placeholder that varies; empty if it does not. */}}
{{- define "gpuward.varies" -}}
{{- $known := include "gpuward.placeholders" . | fromYaml }}
{{- range include "gpuward.placeholdersIn" . | fromJsonArray }}{{ if not (get $known .).is }}true{{ end }}{{ end }}
{{- end }}

{{/* A pattern of a whole text, in quotes. */}}
{{- define "gpuward.celPattern" -}}
{{- $known := include "gpuward.placeholders" . | fromYaml }}
{{- $pattern := regexQuoteMeta . }}
{{- $text := . }}
{{- range include "gpuward.placeholdersIn" . | fromJsonArray }}
{{- $like := (get $known .).like | default "" }}
{{- if not $like }}{{ fail (printf "\na Job template has $(%s) beside another placeholder in one word: %s" . $text) }}{{ end }}
{{- $pattern = $pattern | replace (regexQuoteMeta (printf "$(%s)" .)) $like }}
{{- end }}
{{- printf "^%s$" $pattern | toJson }}
{{- end }}

{{/* A text without the parts that vary. */}}
{{- define "gpuward.celText" -}}
{{- $known := include "gpuward.placeholders" . | fromYaml }}
{{- $cel := toJson . }}
{{- range include "gpuward.placeholdersIn" . | fromJsonArray }}
{{- $cel = $cel | replace (printf "$(%s)" .) (printf "\" + %s + \"" (get $known .).is) }}
{{- end }}
{{- $cel | trimPrefix "\"\" + " | trimSuffix " + \"\"" }}
{{- end }}

{{/* One word of a list, as a list: the program leaves out a flag whose value is empty. In: at (the list in the Job), text. */}}
{{- define "gpuward.celWord" -}}
{{- $isFlag := and (hasPrefix "--" .text) (regexMatch "=\\$\\([A-Z_]+\\)$" .text) }}
{{- if include "gpuward.varies" .text -}}
{{ .at }}.orValue([]).filter(word, word.matches({{ include "gpuward.celPattern" .text }}))
{{- else if and $isFlag (include "gpuward.placeholdersIn" .text | fromJsonArray) -}}
([{{ include "gpuward.celText" .text }}]).filter(word, !word.endsWith("="))
{{- else -}}
[{{ include "gpuward.celText" .text }}]
{{- end }}
{{- end }}

{{/* A value of a template as CEL. In: at (where the Job has it, an optional), value. Numbers are whole. */}}
{{- define "gpuward.cel" -}}
{{- $at := .at }}
{{- $value := .value }}
{{- if kindIs "map" $value }}
{{- $members := list }}
{{- range $key, $child := $value }}
{{- $members = append $members (printf "%s: dyn(%s)" (toJson $key) (include "gpuward.cel" (dict "at" (printf "%s[?%s]" $at (toJson $key)) "value" $child))) }}
{{- end }}
{{- $map := printf "{%s}" (join ", " $members) }}
{{- /* The API server drops the empty value of a variable. */}}
{{- $text := get $value "value" }}
{{- if and (kindIs "string" $text) (hasKey $value "name") (eq (len $value) 2) }}
{{- if not (or (include "gpuward.varies" $text) (eq "[]" (include "gpuward.placeholdersIn" $text))) }}
{{- $map = printf "(%s == \"\" ? {\"name\": dyn(%s)} : %s)" (include "gpuward.celText" $text) (toJson $value.name) $map }}
{{- end }}
{{- end }}
{{- $map }}
{{- else if kindIs "slice" $value }}
{{- $items := list }}
{{- $words := list }}
{{- range $i, $child := $value }}
{{- if kindIs "string" $child }}
{{- $words = append $words (include "gpuward.celWord" (dict "at" $at "text" $child)) }}
{{- else }}
{{- $items = append $items (printf "dyn(%s)" (include "gpuward.cel" (dict "at" (printf "%s[?%d]" $at $i) "value" $child))) }}
{{- end }}
{{- end }}
{{- if $words }}{{ join " + " $words | replace "\"] + [\"" "\", \"" }}{{ else }}[{{ join ", " $items }}]{{ end }}
{{- else if kindIs "string" $value }}
{{- if include "gpuward.varies" $value -}}
({{ $at }}.orValue("").matches({{ include "gpuward.celPattern" $value }}) ? {{ $at }}.orValue("") : {{ toJson $value }})
{{- else }}
{{- include "gpuward.celText" $value }}
{{- end }}
{{- else if kindIs "float64" $value }}
{{- int64 $value }}
{{- else }}
{{- toJson $value }}
{{- end }}
{{- end }}

{{/* The remediator's replacements for parts of a template (job_template.cpp). In: its name, the Job; out: a Job, JSON. */}}
{{- define "gpuward.filledJob" -}}
{{- $job := deepCopy .job }}
{{- $spec := omit $job.spec "suspend" "podFailurePolicy" "selector" "manualSelector" }}
{{- range $key, $value := dict "backoffLimit" 0.0 "completions" 1.0 "parallelism" 1.0 "ttlSecondsAfterFinished" 86400.0 }}
{{- $_ := set $spec $key $value }}
{{- end }}
{{- $pod := omit $spec.template.spec "nodeSelector" "affinity" }}
{{- $_ := set $pod "nodeName" "$(NODE_NAME)" }}
{{- $_ := set $pod "restartPolicy" "Never" }}
{{- if regexMatch "^(own-)?(gpu-reset|gpu-reset-amd|reboot)$" .name }}{{ $_ := set $pod "activeDeadlineSeconds" "$(SECONDS)" }}{{ end }}
{{- $_ := set $pod "tolerations" (list (dict "operator" "Exists")) }}
{{- $_ := set $spec.template "spec" $pod }}
{{- $_ := set $job "spec" $spec }}
{{- toJson $job }}
{{- end }}

{{/* A Job as it reaches the policy, with what the API server fills in: {labels, podLabels, podAnnotations, spec, pod,
container}. In: a Job; out: JSON. */}}
{{- define "gpuward.jobShape" -}}
{{- $pod := deepCopy .spec.template.spec }}
{{- $container := index $pod.containers 0 }}
{{- $_ := unset $pod "containers" }}
{{- with $pod.serviceAccountName }}{{ $_ := set $pod "serviceAccount" . }}{{ end }}
{{- $pod = merge $pod (dict "dnsPolicy" "ClusterFirst" "terminationGracePeriodSeconds" 30.0 "schedulerName" "default-scheduler" "securityContext" dict) }}
{{- range $volume := $pod.volumes }}
{{- if hasKey $volume "hostPath" }}{{ $_ := merge $volume.hostPath (dict "type" "") }}{{ end }}
{{- range list "configMap" "secret" }}
{{- if hasKey $volume . }}{{ $_ := merge (get $volume .) (dict "defaultMode" 420.0) }}{{ end }}
{{- end }}
{{- end }}
{{- range $container.env }}
{{- if dig "valueFrom" "fieldRef" "" . }}{{ $_ := merge .valueFrom.fieldRef (dict "apiVersion" "v1") }}{{ end }}
{{- end }}
{{- $container = merge $container (dict "terminationMessagePath" "/dev/termination-log" "terminationMessagePolicy" "File" "imagePullPolicy" "$(PULL_POLICY)" "resources" dict) }}
{{- $podLabels := dig "metadata" "labels" dict .spec.template }}
{{- $podAnnotations := dig "metadata" "annotations" dict .spec.template }}
{{- $spec := omit .spec "template" "activeDeadlineSeconds" }}
{{- dict "labels" (dig "metadata" "labels" dict .) "podLabels" $podLabels "podAnnotations" $podAnnotations "spec" $spec "pod" $pod "container" $container | toJson }}
{{- end }}

{{/* The shape of a Job as CEL. In: a Job. */}}
{{- define "gpuward.celShape" -}}
{{- $parts := list }}
{{- range $part, $members := include "gpuward.jobShape" . | fromJson }}
{{- $lines := list }}
{{- range $key, $value := $members }}
{{- $at := printf "variables.%s[?%s]" $part (toJson $key) }}
{{- $lines = append $lines (printf "%s: dyn(%s)" (toJson $key) (include "gpuward.cel" (dict "at" $at "value" $value))) }}
{{- end }}
{{- $parts = append $parts (printf "%s: {%s}" (toJson $part) (join ",\n  " $lines)) }}
{{- end }}
{{- printf "{%s}" (join ",\n " $parts) }}
{{- end }}

{{/* Variables of a policy: the parts of the Job, each shape, those of the Job's container, and its differences from each.
The policy has `image`, and `commands`, which may replace the command of the Job's container. In: shapes (Jobs by name),
ownLabels (keys that the program adds). */}}
{{- define "gpuward.jobVariables" -}}
# At runtime an object is a map of its fields; dyn() tells the compiler.
- name: labels
  expression: object.metadata.?labels.orValue({})
- name: annotations
  expression: object.metadata.?annotations.orValue({})
- name: podLabels
  expression: object.spec.template.?metadata.?labels.orValue({})
- name: podAnnotations
  expression: object.spec.template.?metadata.?annotations.orValue({})
- name: metadata
  expression: dyn(object.metadata)
- name: spec
  expression: dyn(object.spec)
- name: pod
  expression: dyn(object.spec.template.spec)
- name: container
  expression: dyn(object.spec.template.spec.containers[0])
{{- $chosen := list }}
{{- range $name := keys .shapes | sortAlpha }}
{{- $job := get $.shapes $name }}
{{- $variable := printf "shape%s" ($name | replace "-" " " | title | nospace) }}
{{- $chosen = append $chosen (printf "(variables.container.name == %s ? [variables.%s] : [])" (toJson (index $job.spec.template.spec.containers 0).name) $variable) }}
- name: {{ $variable }}
  expression: |-
    {{- include "gpuward.celShape" $job | nindent 4 }}
{{- end }}
- name: shapes
  expression: |-
    {{- join "\n+ " $chosen | nindent 4 }}
# Values that the program adds, and those that the API server adds.
- name: ownLabels
  expression: {{ concat .ownLabels (list "batch.kubernetes.io/controller-uid" "batch.kubernetes.io/job-name" "controller-uid" "job-name") | toJson | squote }}
- name: specDefaults
  expression: >-
    {'completionMode': dyn('NonIndexed'), 'completions': dyn(1), 'manualSelector': dyn(false), 'parallelism': dyn(1),
     'podReplacementPolicy': dyn('TerminatingOrFailed'), 'suspend': dyn(false)}
# A template with another command; the template's arguments do not apply to it.
- name: hasOwnCommand
  expression: >-
    !('args' in variables.container)
    && variables.container[?'command'].orValue(['']).join('\n') in variables.commands
- name: differences
  expression: |-
    variables.shapes.map(shape,
      (variables.labels.filter(key, !(key in variables.ownLabels) && variables.labels[?key] != dyn(shape.labels)[?key])
       + shape.labels.filter(key, !(key in variables.labels))).map(key, 'label ' + key)
      + (variables.podLabels.filter(key, !(key in variables.ownLabels) && variables.podLabels[?key] != dyn(shape.podLabels)[?key])
       + shape.podLabels.filter(key, !(key in variables.podLabels))).map(key, 'label of the pod ' + key)
      + (variables.podAnnotations.filter(key, variables.podAnnotations[?key] != dyn(shape.podAnnotations)[?key])
       + shape.podAnnotations.filter(key, !(key in variables.podAnnotations))).map(key, 'annotation of the pod ' + key)
      + (variables.spec.filter(key, !(key in ['activeDeadlineSeconds', 'selector', 'template'])
           && variables.spec[?key] != dyn(shape.spec)[?key].or(dyn(variables.specDefaults)[?key]))
       + shape.spec.filter(key, !(key in variables.spec))).map(key, 'spec.' + key)
      + (variables.pod.filter(key, key != 'containers' && variables.pod[?key] != dyn(shape.pod)[?key])
       + shape.pod.filter(key, !(key in variables.pod) && shape.pod[key] != dyn({}))).map(key, 'pod.' + key)
      + (variables.container.filter(key, !(variables.hasOwnCommand && key == 'command')
           && variables.container[?key] != dyn(shape.container)[?key])
       + shape.container.filter(key, !(key in variables.container) && shape.container[key] != dyn({})
           && !(variables.hasOwnCommand && key == 'args'))).map(key, 'container.' + key))
{{- end }}

{{/* Validations that both policies have. */}}
{{- define "gpuward.jobValidations" -}}
- expression: >-
    size(object.spec.template.spec.containers) == 1 && object.spec.?activeDeadlineSeconds.orValue(0) > 0
    && dyn(object.spec.template).all(key, key in ['metadata', 'spec'])
    && dyn(object.spec.template.?metadata.orValue({})).all(key, key in ['labels', 'annotations', 'creationTimestamp'])
  message: this account creates only Jobs with one container and a time limit
  reason: Forbidden
{{- end }}

{{/* The Job templates by name: the built-in ones, then the owner's with the prefix "own-". JSON. */}}
{{- define "gpuward.jobTemplates" -}}
{{- $all := dict }}
{{- range $path, $_ := .Files.Glob "files/*.json" }}
{{- $_ := set $all (base $path | trimSuffix ".json") ($.Files.Get $path | fromJson) }}
{{- end }}
{{- range $name, $text := .Values.remediator.jobTemplates.files }}
{{- $_ := set $all (printf "own-%s" $name) ($text | fromJson) }}
{{- end }}
{{- toJson $all }}
{{- end }}

{{/* Commands that replace the template's, from the policy's steps: JSON of {container of the step's template: commands}. A
word a line, an empty line between two commands. */}}
{{- define "gpuward.jobCommands" -}}
{{- $policy := include "gpuward.policy" . | fromYaml }}
{{- $templates := include "gpuward.jobTemplates" . | fromJson }}
{{- $commands := dict }}
{{- range $part := prepend ($policy.pools | default list) $policy }}
{{- range $key := list "severities" "recovery" "way_back" "maintenance" }}
{{- $lists := get $part $key }}
{{- if kindIs "map" $lists }}
{{- range $lists }}
{{- if kindIs "slice" . }}
{{- range include "gpuward.steps" . | fromJsonArray }}
{{- if .settings.command }}
{{- $step := .name }}
{{- $command := join "\n" .settings.command }}
{{- range $template, $job := $templates }}
{{- if eq $step ($template | trimPrefix "own-" | trimSuffix "-amd") }}
{{- $container := (index $job.spec.template.spec.containers 0).name }}
{{- $_ := set $commands $container (append (get $commands $container | default list) $command | uniq) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- $texts := dict }}
{{- range $container, $each := $commands }}{{ $_ := set $texts $container (join "\n\n" $each) }}{{ end }}
{{- toJson $texts }}
{{- end }}
