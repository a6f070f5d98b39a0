#!/usr/bin/env python3
"""Writes the dashboards beside this file, or into the folder that it is given.

After each change: dashboards/make.py. A test compares the files with what this writes.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # leaves no cache in the tree

from model import dashboard, panel, runbook_column, write

HERE = pathlib.Path(__file__).resolve().parent
SEVERITY_WORDS = [(4, "isolate"), (3, "reboot"), (2, "reset"), (1, "monitor"), (0, "none")]
QUANTILES = (0.5, 0.95)


def xid_meanings():
    """What the catalogue says of each Xid, in place of the bare number."""
    rows = (HERE.parent / "core/xid/data/xid.inc").read_text()
    described = re.findall(r'^\{(\d+), "[^"]*", "([^"]*)",', rows, re.MULTILINE)
    options = {code: {"text": "%s: %s" % (code, what), "index": i} for i, (code, what) in enumerate(described)}
    return [{"matcher": {"id": "byName", "options": "xid"},
             "properties": [{"id": "mappings", "value": [{"type": "value", "options": options}]}]}]


def fleet():
    level = [("sum(gpuward_node_severity{N} == bool %d)" % number, word) for number, word in SEVERITY_WORDS]
    return dashboard("gpuward-fleet", "gpuward: fleet", "How many GPU nodes are well, and what is wrong with the rest.",
                     "gpuward_node_severity", [
        panel("Nodes", "stat", "GPU nodes that are watched.", "count(gpuward_node_severity{N})", width=4, height=4),
        panel("GPUs", "stat", "GPUs that the exporters know of.", "count(gpuward_gpu_info{N})", width=4, height=4),
        panel("Bad nodes", "stat", "Nodes with a finding of severity reset or above.",
              "sum(gpuward_node_severity{N} >= bool 2)", width=4, height=4),
        panel("Not watched", "stat", "Exporters that Prometheus cannot scrape.", "sum(up{N} == bool 0)",
              width=4, height=4),
        panel("Firing alerts", "stat", "Alerts of gpuward that fire now.",
              'count(ALERTS{J,alertstate="firing"}) or vector(0)', width=4, height=4),
        panel("Driver not answering", "stat", "Nodes whose GPU worker does not answer.",
              "sum(gpuward_gpu_worker_up{N} == bool 0)", width=4, height=4),
        panel("Nodes by severity", "timeseries", "How many nodes have which worst finding.", level, width=12),
        panel("Findings", "timeseries", "What is wrong, by check and code.",
              "sum by (check, code) (gpuward_finding{N})", legend="{{check}} {{code}}", width=12),
        panel("Worst nodes", "table", "Nodes that are not well, the worst first.",
              "topk(50, max by (node) (gpuward_node_severity{N}) > 0)", columns=["node", "Value"], severity=True,
              width=8, height=10),
        panel("Alerts", "table", "What fires; the name leads to the runbook.",
              'ALERTS{J,alertstate="firing"}', columns=["alertname", "node", "severity", "remediation", "code"],
              overrides=runbook_column(), width=16, height=10),
        panel("Bad nodes by instance type", "timeseries", "Part of the nodes of a type with severity reset or above.",
              "instance_type:gpuward_nodes_bad:ratio{J}", unit="percentunit", legend="{{instance_type}}"),
        panel("Workloads whose programs fail", "timeseries", "Nodes on which a workload had application Xids.",
              "namespace_workload:gpuward_application_xid_nodes:count{J}", legend="{{namespace}}/{{workload}}"),
        panel("Versions", "timeseries", "Exporters by version.", "count by (version) (gpuward_build_info{N})",
              legend="{{version}}"),
    ], has_nodes=True)


def node():
    def of_gpu(metric, title, about, unit="short", more=""):
        return panel(title, "timeseries", about, metric, unit=unit, legend="{{node}} GPU {{gpu}}" + more)
    return dashboard("gpuward-node", "gpuward: node", "One node: what is wrong, what was checked, how its GPUs are.",
                     "gpuward_node_severity", [
        panel("Severity of the node", "state-timeline", "The worst finding of the node.",
              "max by (node) (gpuward_node_severity{N})", legend="{{node}}", severity=True, width=12, height=6),
        panel("Severity of its GPUs", "state-timeline", "The worst finding of each GPU, whoever uses it.",
              "max by (node, gpu, pci_bus_id) (gpuward_gpu_severity{N})", legend="{{node}} GPU {{gpu}}", severity=True,
              width=12, height=6),
        panel("Findings", "table", "What is wrong, who says so, and what takes it away.", "gpuward_finding{N}",
              columns=["node", "check", "code", "pci_bus_id", "gpu", "severity", "evidence", "cleared_by"], width=12),
        panel("Checks", "table", "How the newest run of each check ended.", "gpuward_check_status{N} == 1",
              columns=["node", "check", "status"], width=6),
        panel("Age of the checks", "timeseries", "Since when the newest run of each check began.",
              "time() - gpuward_check_last_run_timestamp_seconds{N}", unit="s", legend="{{node}} {{check}}", width=6),
        of_gpu('gpuward_gpu_temperature_celsius{N,sensor="gpu"}', "Temperature", "Of the GPUs.", "celsius"),
        of_gpu("gpuward_gpu_power_watts{N}", "Power", "Power draw of the GPUs.", "watt"),
        of_gpu("gpuward_gpu_utilization_ratio{N}", "Utilisation", "Part of the time in which the GPU had work.",
               "percentunit"),
        of_gpu("gpuward_gpu_memory_used_bytes{N}", "Memory in use", "Of the GPUs.", "bytes"),
        of_gpu("gpuward_gpu_slowdown{N}", "Held back", "1 where a GPU is held back, by reason.", more=" {{reason}}"),
        of_gpu("gpuward_gpu_clock_hertz{N}", "Clocks", "Clock frequencies.", "hertz", " {{clock}}"),
        of_gpu("gpuward_gpu_pcie_link_width{N} / gpuward_gpu_pcie_link_width_max{N}", "PCIe lanes",
               "Lanes in use of those that GPU and slot could use.", "percentunit"),
        of_gpu("gpuward_gpu_links{N} - gpuward_gpu_links_active{N}", "Links that are down", "NVLink or XGMI."),
        of_gpu("rate(gpuward_gpu_link_errors_total{N}[$__rate_interval])", "Link errors", "Per second, by kind.",
               "cps", " {{error}}"),
        panel("GPUs", "timeseries", "GPUs that the machine must have, and how many the driver lists.",
              [("gpuward_gpus_expected{N}", "{{node}} expected"),
               ("sum by (node) (gpuward_gpus_counted_by_driver{N})", "{{node}} by the driver")]),
        panel("Who uses the GPUs", "table", "Pods by GPU, as the kubelet says.", "gpuward_gpu_pod_info{N}",
              columns=["node", "gpu", "namespace", "pod", "container"]),
        panel("EFA drops", "timeseries", "Packets that EFA devices dropped, per second.",
              "rate(gpuward_efa_rx_drops_total{N}[$__rate_interval])", unit="pps", legend="{{node}} {{device}}"),
    ], has_nodes=True)


def errors():
    def of_gpu(title, about, metric, more=""):
        return panel(title, "timeseries", about, metric, legend="{{node}} GPU {{gpu}}" + more)
    meanings = xid_meanings()
    return dashboard("gpuward-errors", "gpuward: GPU errors", "Xids and what they mean, SXids, ECC, rows and pages.",
                     "gpuward_node_severity", [
        panel("Xids and what they mean", "table", "When each Xid last came, what it amounts to on this node, and what "
              "the vendor wants done.",
              "(time() - gpuward_xid_last_timestamp_seconds{N}) * on (job, node, xid) group_left (severity, action) "
              "gpuward_xid_policy_info{N}", unit="s",
              columns=["node", "gpu", "pci_bus_id", "xid", "severity", "action", "Value"], overrides=meanings,
              width=24, height=10),
        panel("Xids by code", "timeseries", "New Xids, by code.",
              "sum by (xid) (increase(gpuward_xid_errors_total{N}[$__rate_interval]))", legend="Xid {{xid}}", width=12),
        panel("Xids by node", "timeseries", "New Xids, by node.",
              "sum by (node) (increase(gpuward_xid_errors_total{N}[$__rate_interval]))", legend="{{node}}", width=12),
        panel("SXids", "timeseries", "New errors of NVSwitches.",
              "sum by (node, sxid) (increase(gpuward_sxid_errors_total{N}[$__rate_interval]))",
              legend="{{node}} SXid {{sxid}}"),
        panel("Other events of the kernel", "timeseries", "AMD's errors, failed starts, PCIe, the host.",
              "sum by (node, kind, label) (increase(gpuward_kernel_events_total{N}[$__rate_interval]))",
              legend="{{node}} {{kind}} {{label}}"),
        panel("Findings by severity", "timeseries", "How many findings of each severity there are.",
              "sum by (severity) (gpuward_finding{N})", legend="{{severity}}"),
        of_gpu("Uncorrected ECC errors", "New ones since the driver was loaded.",
               'increase(gpuward_gpu_ecc_errors_total{N,error="uncorrected",counter="volatile"}[$__rate_interval])'),
        of_gpu("Corrected ECC errors", "New ones since the driver was loaded.",
               'increase(gpuward_gpu_ecc_errors_total{N,error="corrected",counter="volatile"}[$__rate_interval])'),
        of_gpu("Rows to remap", "1 where a row waits for a GPU reset to be replaced.",
               "gpuward_gpu_remapped_rows_pending{N}"),
        of_gpu("Rows that could not be remapped", "1: the board is to be replaced.",
               "gpuward_gpu_remapped_rows_failure{N}"),
        of_gpu("Banks without spare rows", "Memory banks that have no spare row left.",
               'gpuward_gpu_remapped_rows_banks{N,spare_rows="none"}'),
        of_gpu("PCIe replays", "Packets sent again, per second.",
               "rate(gpuward_gpu_pcie_replays_total{N}[$__rate_interval])"),
    ], has_nodes=True)


def remediation():
    ages = [('histogram_quantile(%g, sum by (le, milestone) (increase(gpuward_remediator_fault_age_seconds_bucket{J}'
             '[$__range])))' % q, "{{milestone}} p%g" % (q * 100)) for q in QUANTILES]
    return dashboard("gpuward-remediation", "gpuward: remediation", "What is done to bad nodes, and what holds it up.",
                     "gpuward_remediator_ready", [
        panel("Open", "stat", "Remediations that are not closed.",
              'sum(max by (phase, severity) (gpuward_remediator_remediations{J,'
              'phase!~"Released|Ended|Replaced|Superseded|Cancelled"})) or vector(0)', width=4, height=4),
        panel("Held", "stat", "Nothing more is done with these without a human.",
              'sum(max by (severity) (gpuward_remediator_remediations{J,phase="Held"})) or vector(0)',
              width=4, height=4),
        panel("Wait for a yes", "stat", "`kubectl get remediations` names them.",
              "max(gpuward_remediator_approvals_waiting{J})", width=4, height=4),
        panel("Circuit breaker", "stat", "1: open, nothing but taints is begun.",
              "max(gpuward_remediator_breaker_open{J})", width=4, height=4),
        panel("Leaders", "stat", "Replicas that act; one is right.", "sum(gpuward_remediator_leads{J})",
              width=4, height=4),
        panel("Mode", "table", "How far the remediator may go.", "gpuward_remediator_mode_info{J}",
              columns=["instance", "mode"], width=4, height=4),
        panel("Pipeline", "timeseries", "Remediations by phase, closed ones included.",
              "sum by (phase) (max by (phase, severity) (gpuward_remediator_remediations{J}))", legend="{{phase}}",
              width=12),
        panel("Age of the newest step", "timeseries", "Of the remediation that has been longest at its step.",
              "time() - min by (phase) (gpuward_remediator_oldest_step_timestamp_seconds{J})", unit="s",
              legend="{{phase}}", width=12),
        panel("Waiting", "timeseries", "Remediations without a step under way, by the rule that decided so.",
              "sum by (phase, rule) (max by (phase, rule) (gpuward_remediator_waiting{J}))", legend="{{phase}} {{rule}}",
              width=12),
        panel("Waiting since", "timeseries", "How long the one that has waited longest makes no progress.",
              "time() - min by (rule) (gpuward_remediator_waiting_since_timestamp_seconds{J})", unit="s",
              legend="{{rule}}", width=12),
        panel("Budgets", "bargauge", "Part of each budget that is used.",
              "gpuward_remediator_budget_used{J} / (gpuward_remediator_budget_allowed{J} > 0)", unit="percentunit",
              legend="{{budget}} {{scope}}"),
        panel("Slots", "timeseries", "Slots that are taken, by what for.",
              "sum by (harm) (gpuward_remediator_slots{J})", legend="{{harm}}"),
        panel("From the alert to each milestone", "bargauge", "Time to taint, cordon, drain, act and recover, over "
              "the range of the dashboard.", ages, unit="s"),
        panel("Actions", "timeseries", "Actions carried out on nodes.",
              "sum by (action) (increase(gpuward_remediator_actions_total{J}[$__rate_interval]))", legend="{{action}}"),
        panel("Actions that failed", "timeseries", "They are tried again.",
              "sum by (action) (increase(gpuward_remediator_action_failures_total{J}[$__rate_interval]))",
              legend="{{action}}"),
        panel("Decisions", "timeseries", "Decisions that changed a remediation, by verdict.",
              "sum by (verdict) (increase(gpuward_remediator_decisions_total{J}[$__rate_interval]))",
              legend="{{verdict}}"),
        panel("Alerts", "table", "What fires about remediation; the name leads to the runbook.",
              'ALERTS{J,alertstate="firing"}', columns=["alertname", "severity"], overrides=runbook_column(), width=12),
        panel("Exclusions", "table", "Nodes and instances that humans keep gpuward off, and for how long still.",
              "gpuward_remediator_exclusion_expires_timestamp_seconds{J} - time()", unit="s",
              columns=["subject", "Value"], width=12),
    ], has_nodes=False)


def internals():
    p99 = ("histogram_quantile(0.99, sum by (le, verb) (rate(gpuward_remediator_api_request_duration_seconds_bucket"
           "{J}[$__rate_interval])))")
    return dashboard("gpuward-internals", "gpuward: internals", "Both programs themselves.", "gpuward_build_info", [
        panel("CPU", "timeseries", "Of each process, in cores.", "rate(process_cpu_seconds_total{J}[$__rate_interval])",
              legend="{{job}} {{instance}}"),
        panel("Memory", "timeseries", "Resident memory of each process.", "process_resident_memory_bytes{J}",
              unit="bytes", legend="{{job}} {{instance}}"),
        panel("File descriptors", "timeseries", "Open ones.", "process_open_fds{J}", legend="{{job}} {{instance}}"),
        panel("Configuration", "timeseries", "0 while the newest configuration is bad.",
              "gpuward_config_last_reload_successful{J}", legend="{{job}} {{instance}}"),
        panel("Age of the GPU readings", "timeseries", "How old what the exporter shows is.",
              "time() - gpuward_gpu_reading_timestamp_seconds{J}", unit="s", legend="{{node}}"),
        panel("Time of a GPU reading", "timeseries", "How long the driver takes.",
              "gpuward_gpu_reading_duration_seconds{J}", unit="s", legend="{{node}}"),
        panel("Kernel log", "timeseries", "Records read per second.",
              "rate(gpuward_kernel_log_lines_total{J}[$__rate_interval])", unit="cps", legend="{{node}}"),
        panel("Kernel records lost", "timeseries", "Overwritten before they could be read.",
              "increase(gpuward_kernel_log_lost_records_total{J}[$__rate_interval])", legend="{{node}}"),
        panel("Worker restarts", "timeseries", "Of the process that asks the GPU libraries.",
              "increase(gpuward_gpu_worker_restarts_total{J}[$__rate_interval])", legend="{{node}}"),
        panel("Webhook answers", "timeseries", "Per second, by HTTP status.",
              "sum by (code) (rate(gpuward_remediator_webhook_requests_total{J}[$__rate_interval]))", unit="reqps",
              legend="{{code}}"),
        panel("Time of a webhook answer", "timeseries", "Mean time.",
              "rate(gpuward_remediator_webhook_seconds_total{J}[$__rate_interval]) / "
              "rate(gpuward_remediator_notifications_total{J}[$__rate_interval])", unit="s", legend="{{instance}}"),
        panel("API server, p99", "timeseries", "Time of requests to the API server.", p99, unit="s", legend="{{verb}}"),
        panel("Errors of the API server", "timeseries", "Failed reads, writes and watches.",
              "sum by (kind) (increase(gpuward_remediator_errors_total{J}[$__rate_interval]))", legend="{{kind}}"),
        panel("Queue", "timeseries", "Nodes waiting to be looked at.", "gpuward_remediator_queue_length{J}",
              legend="{{instance}}"),
        panel("Ready and leading", "timeseries", "Replicas that can work, and the one that acts.",
              [("sum(gpuward_remediator_ready{J})", "ready"), ("sum(gpuward_remediator_leads{J})", "leading")]),
        panel("Notifications", "timeseries", "Notifications that have ended at a sink, by how.",
              "sum by (sink, result) (increase(gpuward_notifications_total{J}[$__rate_interval]))",
              legend="{{sink}} {{result}}"),
        panel("Notifications waiting", "timeseries", "Not taken by the sink yet.",
              "sum by (sink) (gpuward_notifications_waiting{J})", legend="{{sink}}"),
        panel("Lag of the sources", "timeseries", "How far what was read is behind now.",
              "gpuward_remediator_source_lag_seconds{J}", unit="s", legend="{{source}}"),
    ], has_nodes=False)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for make in (fleet, node, errors, remediation, internals):
        write(folder, make())


main()
