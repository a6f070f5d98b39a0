{{- define "gpuward.quarantine" -}}
# DCGM level 4 and the EFA loopback on one node that you have cordoned and drained; takes one to three hours.
# A template: NODE=...; sed "s/TARGET_NODE_NAME/$NODE/g" exporter-quarantine.yaml | kubectl apply -f -
# The result: kubectl get node $NODE -o jsonpath='{.metadata.annotations.{{ include "gpuward.nodePrefix" . | replace "." "\\." }}/quarantine-result}'
apiVersion: batch/v1
kind: Job
metadata:
  name: gpu-quarantine-TARGET_NODE_NAME
  namespace: {{ .Values.exporter.namespace }}
  labels:
    app.kubernetes.io/name: gpu-healthcheck
    app.kubernetes.io/component: quarantine
    {{ include "gpuward.nodePrefix" . }}/target-node: TARGET_NODE_NAME
spec:
  backoffLimit: 0
  ttlSecondsAfterFinished: 86400
  # Longer than both checks may take together, and a wait for the node's own level 2.
  activeDeadlineSeconds: 18000
  template:
    metadata:
      labels:
        app.kubernetes.io/name: gpu-healthcheck
        app.kubernetes.io/component: quarantine
        {{ include "gpuward.nodePrefix" . }}/target-node: TARGET_NODE_NAME
    spec:
      serviceAccountName: gpu-healthcheck-quarantine
      {{- with include "gpuward.pullSecrets" . }}
      {{- trim . | nindent 6 }}
      {{- end }}
      {{- with .Values.exporter.runtimeClassName }}
      runtimeClassName: {{ . }}
      {{- end }}
      restartPolicy: Never
      terminationGracePeriodSeconds: 60
      hostNetwork: true
      hostPID: true
      dnsPolicy: ClusterFirstWithHostNet
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchFields:
                  - {key: metadata.name, operator: In, values: [TARGET_NODE_NAME]}
      tolerations:
        - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
        - {key: amd.com/gpu, operator: Exists, effect: NoSchedule}
        - {key: gpuward.dev/unhealthy, operator: Exists, effect: NoSchedule}
        - {key: gpuward.dev/maintenance, operator: Exists, effect: NoSchedule}
        - {key: gpu-healthcheck.aws-samples.io/unhealthy, operator: Exists, effect: NoSchedule}
        - {key: gpu-healthcheck.aws-samples.io/maintenance, operator: Exists, effect: NoSchedule}
        - {key: trainy.konduktor.ai/faulty, operator: Exists, effect: NoSchedule}
        - {key: gpuward.dev/remediation, operator: Exists, effect: NoSchedule}
        - {key: node.kubernetes.io/unschedulable, operator: Exists, effect: NoSchedule}
      containers:
        - name: quarantine
          image: {{ include "gpuward.diagnosticsImage" . }}
          imagePullPolicy: {{ include "gpuward.diagnosticsPullPolicy" . }}
          {{- if .Values.exporter.legacyConfigMap }}
          args: [quarantine, --config.directory=/etc/gpu-healthcheck]
          {{- else }}
          args: [quarantine]
          {{- end }}
          env:
            - name: NODE_NAME
              valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
          securityContext:
            privileged: true
            runAsUser: 0
          resources:
            requests: {cpu: "2", memory: 4Gi}
            limits: {cpu: "8", memory: 8Gi}
          volumeMounts:
            - {name: dev, mountPath: /dev}
            - {name: sys, mountPath: /sys, readOnly: true}
            # The exporter learns of a pass here: its --state.path.
            - {name: state, mountPath: /var/lib/gpuward}
            # The exporter's own settings; the program reads them there.
            - {name: config, mountPath: /etc/gpuward, readOnly: true}
            {{- if .Values.exporter.legacyConfigMap }}
            - {name: legacy-config, mountPath: /etc/gpu-healthcheck, readOnly: true}
            {{- end }}
      volumes:
        - {name: dev, hostPath: {path: /dev}}
        - {name: sys, hostPath: {path: /sys}}
        - {name: state, hostPath: {path: /var/lib/gpuward, type: DirectoryOrCreate}}
        - {name: config, configMap: {name: gpuward-exporter, optional: true}}
        {{- with .Values.exporter.legacyConfigMap }}
        - {name: legacy-config, configMap: {name: {{ . }}, optional: true}}
        {{- end }}
{{- end }}
