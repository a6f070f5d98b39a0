{{/* TLS and credentials of the listeners web (exporter.web), telemetry and webhook (remediator.*). Their files are below
/etc/gpuward-NAME. values.yaml says what their Secrets hold. The webhook has a flag for its token, which it always has. */}}

{{/* The file of --web.config.file; empty without such values. In: name, values. */}}
{{- define "gpuward.webConfig" -}}
{{- $folder := printf "/etc/gpuward-%s" (index . 0) }}
{{- $values := index . 1 }}
{{- $path := printf "%s.%s" (ternary "exporter" "remediator" (eq (index . 0) "web")) (index . 0) }}
{{- if and $values.clientSecret (eq $values.clientSecret $values.tlsSecret) }}
{{- fail (printf "\n%s.clientSecret and .tlsSecret are both %s: name two Secrets, because tls.key of the one is the server's and of the other the client's" $path $values.tlsSecret) }}
{{- end }}
{{- if and $values.clientSecret (not $values.tlsSecret) }}
{{- fail (printf "\nclientSecret is %s, and client certificates are part of TLS: set tlsSecret beside it" $values.clientSecret) }}
{{- end }}
{{- if and $values.usersSecret (not (or $values.tokenSecret (hasKey $values "existingSecret"))) }}
{{- fail (printf "\nusersSecret is %s, and Prometheus scrapes with a token: set tokenSecret beside it" $values.usersSecret) }}
{{- end }}
{{- if and $values.usersSecret (not $values.tlsSecret) }}
{{- fail (printf "\n%s.usersSecret is %s, whose passwords clients would send over plain HTTP: set %s.tlsSecret beside it" $path $values.usersSecret $path) }}
{{- end }}
{{- if $values.tlsSecret }}
tls:
  certificate_file: {{ $folder }}/tls.crt
  key_file: {{ $folder }}/tls.key
  {{- if $values.clientSecret }}
  client_ca_file: {{ $folder }}/client-ca.crt
  {{- end }}
{{- end }}
{{- if or $values.tokenSecret $values.usersSecret }}
auth:
  {{- if $values.tokenSecret }}
  bearer_token_files: [{{ $folder }}/token]
  {{- end }}
  {{- if $values.usersSecret }}
  basic_users_file: {{ $folder }}/users
  {{- end }}
{{- end }}
{{- end }}

{{/* The flag that names that file; fails if the arguments have it too, because only one of the two files would count. In:
name, the flag, the path of the arguments, the arguments. */}}
{{- define "gpuward.webFlag" -}}
{{- $flag := index . 1 }}
{{- $path := index . 2 }}
{{- range index . 3 }}
{{- if or (eq . $flag) (hasPrefix (printf "%s=" $flag) .) }}
{{- fail (printf "\n%s has %s, and the values make that file: leave out one of the two" $path $flag) }}
{{- end }}
{{- end }}
{{- $flag }}=/etc/gpuward/{{ index . 0 }}.yaml
{{- end }}

{{/* The webhook's values, with its token as tokenSecret. */}}
{{- define "gpuward.webhookWithToken" -}}
{{ merge (dict "tokenSecret" (include "gpuward.webhookSecret" .)) .Values.remediator.webhook | toJson }}
{{- end }}

{{/* The volume of those files, which has no key of a client. In: name, values. */}}
{{- define "gpuward.webVolume" -}}
{{- $values := index . 1 -}}
name: {{ index . 0 }}
projected:
  sources:
    {{- with $values.tlsSecret }}
    - secret: {name: {{ . }}, items: [{key: tls.crt, path: tls.crt}, {key: tls.key, path: tls.key}]}
    {{- end }}
    {{- with $values.clientSecret }}
    - secret: {name: {{ . }}, items: [{key: ca.crt, path: client-ca.crt}]}
    {{- end }}
    {{- with $values.tokenSecret }}
    - secret: {name: {{ . }}, items: [{key: token, path: token}]}
    {{- end }}
    {{- with $values.usersSecret }}
    - secret: {name: {{ . }}, items: [{key: users, path: users}]}
    {{- end }}
{{- end }}

{{/* The volume of a client, a test pod. In: name, values. */}}
{{- define "gpuward.clientVolume" -}}
{{- $values := index . 1 -}}
name: {{ index . 0 }}
projected:
  sources:
    {{- with $values.tlsSecret }}
    - secret: {name: {{ . }}, items: [{key: ca.crt, path: ca.crt}]}
    {{- end }}
    {{- with $values.clientSecret }}
    - secret: {name: {{ . }}, items: [{key: tls.crt, path: tls.crt}, {key: tls.key, path: tls.key}]}
    {{- end }}
    {{- with $values.tokenSecret }}
    - secret: {name: {{ . }}, items: [{key: token, path: token}]}
    {{- end }}
{{- end }}

{{/* Flags of `gpuward-exporter probe` by which a test pod calls a listener; the token is in /scratch. In: name, values, whether
it sends a token. */}}
{{- define "gpuward.probeFlags" -}}
{{- $folder := printf "/run/%s" (index . 0) }}
{{- $values := index . 1 }}
{{- if $values.tlsSecret }} --probe.ca-file={{ $folder }}/ca.crt{{ end }}
{{- if $values.clientSecret }} --probe.certificate-file={{ $folder }}/tls.crt --probe.key-file={{ $folder }}/tls.key{{ end }}
{{- if index . 2 }} --probe.bearer-token-file=/scratch/token{{ if not $values.tlsSecret }} --probe.credentials-over-http{{ end }}{{ end }}
{{- end }}

{{- define "gpuward.scheme" -}}
{{ ternary "https" "http" (not (empty .tlsSecret)) }}
{{- end }}

{{- define "gpuward.appProtocol" -}}
{{ if .tlsSecret }}, appProtocol: https{{ end }}
{{- end }}

{{/* tlsConfig of the prometheus-operator's objects. In: the name of the server, values. */}}
{{- define "gpuward.operatorTls" -}}
{{- $values := index . 1 -}}
serverName: {{ index . 0 }}
ca: {secret: {name: {{ $values.tlsSecret }}, key: ca.crt}}
{{- with $values.clientSecret }}
cert: {secret: {name: {{ . }}, key: tls.crt}}
keySecret: {name: {{ . }}, key: tls.key}
{{- end }}
{{- end }}

{{/* What an endpoint of a ServiceMonitor has of a listener. In: the name of the server, values. */}}
{{- define "gpuward.endpoint" -}}
{{- $values := index . 1 }}
{{- if $values.tlsSecret }}
scheme: https
tlsConfig:
  {{- include "gpuward.operatorTls" . | nindent 2 }}
{{- end }}
{{- with $values.tokenSecret }}
authorization:
  credentials: {name: {{ . }}, key: token}
{{- end }}
{{- end }}

{{/* The same for a Prometheus without the operator; empty without such values. In: the name of the server, values. */}}
{{- define "gpuward.scrapeKeys" -}}
{{- $values := index . 1 }}
{{- if $values.tlsSecret }}
scheme: https
tls_config: {server_name: {{ index . 0 }}, ca_file: ca.crt of the Secret {{ $values.tlsSecret }}
{{- with $values.clientSecret }}, cert_file: tls.crt of the Secret {{ . }}, key_file: tls.key of it{{ end }}}
{{- end }}
{{- with $values.tokenSecret }}
authorization: {credentials_file: token of the Secret {{ . }}}
{{- end }}
{{- end }}
