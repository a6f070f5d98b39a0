#!/usr/bin/env python3
"""Writes the dashboards beside this file, or into the folder that it is given.

After each change: dashboards/make.py. A test compares the files with what this writes.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # leaves no cache in the tree

from model import SEVERITIES, SEVERITY_COLOURS, dashboard, panel, remediator_page, row, stat, write

HERE = pathlib.Path(__file__).resolve().parent
QUANTILES = (0.5, 0.95)
CLOSED = "Released|Ended|Replaced|Superseded|Cancelled"
# The cluster is empty where its series have no such label.
NODE = "{{cluster}} {{node}}"
# Prometheus sees no growth where a series begins.
FIRST = "The first error of a kind on a node is not shown here, only in its findings."
RED_AT_1 = [(1, "red")]
YELLOW_AT_1 = [(1, "yellow")]


def columns(*names, value=""):
    """The columns of a table, left to right, and the heading of its value."""
    return {**{name: name for name in names}, **({"Value": value} if value else {})}


def xid_meanings():
    """What the catalogue says of each Xid, in place of the bare number."""
    rows = (HERE.parent / "core/xid/data/xid.inc").read_text()
    described = re.findall(r'^\{(\d+), "[^"]*", "([^"]*)",', rows, re.MULTILINE)
    options = {code: {"text": "%s: %s" % (code, what), "index": i} for i, (code, what) in enumerate(described)}
    return {"xid": [{"type": "value", "options": options}]}


def leaders(width):
    leading = "sum by (cluster) (gpuward_remediator_leads{J})"
    return stat("Leaders", "Replicas that lead. There must be exactly one in each cluster.",
                "max(%s) > 1 or min(%s) or vector(0)" % (leading, leading),
                width=width, states={0: ("no leader", "red"), 1: ("one leader", "green"), 2: ("two leaders", "red")})


def remediation_now():
    """The state of remediation in eight numbers, for those who look at the fleet too."""
    def number(title, about, expr, **more):
        return stat(title, about, expr, width=3, **more)
    return [
        row("Remediation now"),
        number("Open", "Remediations that are not closed.",
               'sum(max by (cluster, phase, severity) (gpuward_remediator_remediations{J,phase!~"%s"})) or vector(0)'
               % CLOSED,
               base="blue"),
        number("Held", "Remediations that do nothing more until an operator decides.",
               'sum(max by (cluster, severity) (gpuward_remediator_remediations{J,phase="Held"})) or vector(0)',
               above=RED_AT_1),
        number("Awaiting approval", "Remediations whose next step needs an approval. `kubectl get remediations` names "
               "them.", "sum(max by (cluster) (gpuward_remediator_approvals_waiting{J}))", above=YELLOW_AT_1),
        number("Left in service", "Unhealthy nodes that stay in service because of a budget or an alert storm.",
               "sum(max by (cluster, rule) (gpuward_remediator_left_in_service{J})) or vector(0)", above=YELLOW_AT_1),
        number("Stop switch", "Stopped: no step begins until an operator releases the switch.",
               "max(gpuward_remediator_stopped{J})", states={0: ("run", "green"), 1: ("stopped", "red")}),
        number("Circuit breaker", "Open: nodes are only tainted until an operator closes it.",
               "max(gpuward_remediator_breaker_open{J})", states={0: ("closed", "green"), 1: ("open", "red")}),
        leaders(width=3),
        number("Mode", "How far the remediator may go: observe, taint, cordon or full.",
               "max by (mode) (gpuward_remediator_mode_info{J})", legend="{{mode}}", base="blue",
               options={"textMode": "name"}),
    ]


def alerts(width):
    return panel("Alerts", "table", "Alerts of gpuward that fire. The name links to the runbook, the node to its "
                 "dashboard and to the remediator's page.", "{ALERTS}",
                 columns=columns("alertname", "cluster", "node", "severity", "remediation", "code"), width=width,
                 height=10)


def fleet():
    level = [("sum(gpuward_node_severity{N} == bool %d)" % number, word) for number, (word, _) in SEVERITIES.items()]
    return dashboard("gpuward-fleet", "gpuward: fleet", "How many GPU nodes are healthy, and what is wrong with the "
                     "rest.", [
        row("Nodes now"),
        stat("GPU nodes", "Nodes whose exporter Prometheus scrapes.", "count(gpuward_node_severity{N}) or vector(0)",
             base="red", above=[(1, "green")]),
        stat("GPUs", "GPUs that the exporters know of.", "count(gpuward_gpu_info{N}) or vector(0)", base="red",
             above=[(1, "green")]),
        stat("Unhealthy nodes", "Nodes with a finding of severity reset or above.",
             "sum(gpuward_node_severity{N} >= bool 2)", above=RED_AT_1),
        stat("Not scraped", "Exporters that Prometheus cannot scrape. The state of their nodes is unknown.",
             'sum(up{N,job="gpuward-exporter"} == bool 0)', above=RED_AT_1),
        stat("Driver not answering", "Nodes whose process for the GPU libraries does not answer.",
             "sum(gpuward_gpu_worker_up{N} == bool 0)", above=RED_AT_1),
        stat("Firing alerts", "Alerts of gpuward that fire, without the dead man's switch, which always does.",
             "count({ALERTS}) or vector(0)", above=[(1, "orange")]),
        *remediation_now(),
        row("Where to look"),
        panel("Worst nodes", "table", "Unhealthy nodes, the worst first. The node leads to its dashboard and to the "
              "remediator's page.", "sort_desc(topk(50, max by (cluster, node) (gpuward_node_severity{N}) > 0))",
              columns=columns("cluster", "node", value="worst finding"), states=SEVERITIES, width=8, height=10),
        alerts(width=16),
        row("Over time"),
        panel("Nodes by severity", "timeseries", "How many nodes have which worst finding.", level, width=12,
              colours=SEVERITY_COLOURS, stacked=True),
        panel("Findings", "timeseries", "What is wrong, by check and code.",
              "sum by (check, code) (gpuward_finding{N})", legend="{{check}} {{code}}", width=12, stacked=True),
        panel("Unhealthy nodes by instance type", "timeseries", "Share of the nodes of each type with a finding of "
              "severity reset or above. Many at once are rarely many broken boards.",
              "instance_type:gpuward_nodes_bad:ratio{JOB}", unit="percentunit", legend="{{cluster}} {{instance_type}}"),
        panel("Workloads whose programs fail", "timeseries", "Nodes on which a workload had Xids that applications "
              "cause.", "namespace_workload:gpuward_application_xid_nodes:count{JOB}",
              legend="{{cluster}} {{namespace}}/{{workload}}"),
        panel("Versions", "timeseries", "Programs of gpuward by version.",
              "count by (job, version) (gpuward_build_info{J})", legend="{{job}} {{version}}"),
    ], has_nodes=True)


def node():
    def of_gpu(metric, title, about, unit="short", more="", width=8):
        return panel(title, "timeseries", about, metric, unit=unit, legend=NODE + " GPU {{gpu}}" + more, width=width)
    return dashboard("gpuward-node", "gpuward: node", "One node: its faults, its checks and the state of its GPUs.", [
        row("Now"),
        stat("Severity", "The worst finding of the chosen nodes.", "max(gpuward_node_severity{N})", states=SEVERITIES),
        stat("GPUs missing", "GPUs that the machine must have and the driver does not list.",
             "sum(clamp_min(sum by (cluster, node) (gpuward_gpus_expected{N}) - "
             "sum by (cluster, node) (gpuward_gpus_counted_by_driver{N}), 0))", above=RED_AT_1),
        stat("Exporter", "Whether Prometheus can scrape the exporter.", 'min(up{N,job="gpuward-exporter"})',
             states={0: ("not scraped", "red"), 1: ("scraped", "green")}),
        stat("Driver", "Whether the process that reads the GPU libraries answers.", "min(gpuward_gpu_worker_up{N})",
             states={0: ("not answering", "red"), 1: ("answers", "green")}),
        stat("Kernel log", "Whether the kernel log can be read. Without it findings do not change.",
             "min(gpuward_kernel_log_up{N})", states={0: ("not read", "red"), 1: ("read", "green")}),
        stat("Age of the readings", "How old the readings of the GPUs are. They are read every 15 s.",
             "max(time() - gpuward_gpu_reading_timestamp_seconds{N})", unit="s", field={"decimals": 0},
             above=[(60, "yellow"), (120, "red")]),
        row("What is wrong"),
        panel("Severity of the node", "state-timeline", "The worst finding of the node.",
              "max by (cluster, node) (gpuward_node_severity{N})", legend=NODE, states=SEVERITIES, width=12, height=7,
              field={"links": [remediator_page("${__field.labels.node}")]}),
        panel("Severity of its GPUs", "state-timeline", "The worst finding of each GPU, whoever uses it.",
              "max by (cluster, node, gpu, pci_bus_id) (gpuward_gpu_severity{N})", legend=NODE + " GPU {{gpu}}",
              states=SEVERITIES, width=12, height=7),
        panel("Findings", "table", "What is wrong, the evidence, and what clears it.", "gpuward_finding{N}",
              columns=columns("cluster", "node", "check", "code", "pci_bus_id", "gpu", "severity", "evidence",
                              "cleared_by"),
              width=12),
        panel("Checks", "table", "Result of the newest run of each check. `error`: the check could not find out.",
              "gpuward_check_status{N} == 1", columns=columns("cluster", "node", "check", "status"), width=6),
        panel("Age of the checks", "timeseries", "Time since the newest run of each check began.",
              "time() - gpuward_check_last_run_timestamp_seconds{N}", unit="s", legend=NODE + " {{check}}", width=6),
        row("GPUs"),
        of_gpu('gpuward_gpu_temperature_celsius{N,sensor="gpu"}', "Temperature", "Temperature of the GPUs.", "celsius"),
        of_gpu("gpuward_gpu_power_watts{N}", "Power", "Power draw of the GPUs.", "watt"),
        of_gpu("gpuward_gpu_utilization_ratio{N}", "Utilisation", "Share of the time in which the GPU had work.",
               "percentunit"),
        of_gpu("gpuward_gpu_memory_used_bytes{N}", "Memory in use", "How much of the GPU's memory is in use.", "bytes"),
        panel("Throttled GPUs", "timeseries", "GPUs that the driver slows down, by reason.",
              "sum by (cluster, node, reason) (gpuward_gpu_slowdown{N})", legend=NODE + " {{reason}}"),
        of_gpu("gpuward_gpu_clock_hertz{N}", "Clocks", "Clock frequencies.", "hertz", " {{clock}}"),
        panel("GPUs expected and found", "timeseries", "GPUs that the machine must have, and how many the driver "
              "lists.", [("gpuward_gpus_expected{N}", NODE + " expected"),
                         ("sum by (cluster, node) (gpuward_gpus_counted_by_driver{N})",
                          NODE + " found by the driver")]),
        panel("Who uses the GPUs", "table", "Pods by GPU, as the kubelet reports them.", "gpuward_gpu_pod_info{N}",
              columns=columns("cluster", "node", "gpu", "namespace", "pod", "container"), width=16),
        row("Links and network"),
        of_gpu("gpuward_gpu_pcie_link_width{N} / gpuward_gpu_pcie_link_width_max{N}", "PCIe lanes",
               "Lanes in use, as a share of those that GPU and slot have in common.", "percentunit", width=6),
        of_gpu("gpuward_gpu_links{N} - gpuward_gpu_links_active{N}", "Links that are down",
               "Links (NVLink, XGMI) of each GPU that are not up.", width=6),
        of_gpu("rate(gpuward_gpu_link_errors_total{N}[$__rate_interval])", "Link errors",
               "Errors of all links of a GPU per second, by kind.", "cps", " {{error}}", width=6),
        panel("EFA drops", "timeseries", "Packets that EFA devices dropped, per second.",
              "rate(gpuward_efa_rx_drops_total{N}[$__rate_interval])", unit="pps", legend=NODE + " {{device}}",
              width=6),
    ], has_nodes=True)


def errors():
    def of_gpu(title, about, metric, more="", unit="short"):
        return panel(title, "timeseries", about, metric, unit=unit, legend=NODE + " GPU {{gpu}}" + more)

    def findings(severity, colour):
        return stat("Findings: " + severity, "Findings of severity %s that are not cleared." % severity,
                    'sum(gpuward_finding{N,severity="%s"}) or vector(0)' % severity, above=[(1, colour)])
    return dashboard("gpuward-errors", "gpuward: GPU errors", "Xids and what they mean, SXids, ECC, rows and pages.", [
        row("Now"),
        *[findings(severity, SEVERITY_COLOURS[severity]) for severity in ("isolate", "reboot", "reset")],
        stat("Rows waiting for a reset", "GPUs with a row that is replaced at the next GPU reset.",
             "sum(gpuward_gpu_remapped_rows_pending{N})", above=YELLOW_AT_1),
        stat("Rows not replaced", "GPUs with a row that could not be replaced: replace the board.",
             "sum(gpuward_gpu_remapped_rows_failure{N})", above=RED_AT_1),
        stat("Banks without spare rows", "Memory banks that have no spare row left.",
             'sum(gpuward_gpu_remapped_rows_banks{N,spare_rows="none"})', above=YELLOW_AT_1),
        row("Xids"),
        panel("Xids and what they mean", "table", "When each Xid was last seen, its severity on this node, and the "
              "action that the vendor recommends.",
              "(time() - gpuward_xid_last_timestamp_seconds{N}) "
              "* on (cluster, job, node, xid) group_left (severity, action) "
              "gpuward_xid_policy_info{N}", unit="s",
              columns=columns("cluster", "node", "gpu", "pci_bus_id", "xid", "severity", "action",
                              value="last seen ago"),
              base="text", mappings=xid_meanings(), width=24, height=10),
        panel("Xids by code", "timeseries", "New Xids, by code.",
              "sum by (xid) (increase(gpuward_xid_errors_total{N}[$__rate_interval])) > 0", legend="Xid {{xid}}",
              width=12),
        panel("Xids by node", "timeseries", "New Xids, by node.",
              "sum by (cluster, node) (increase(gpuward_xid_errors_total{N}[$__rate_interval])) > 0", legend=NODE,
              width=12),
        row("Other errors"),
        panel("SXids", "timeseries", "New errors of NVSwitches. " + FIRST,
              "sum by (cluster, node, sxid) (increase(gpuward_sxid_errors_total{N}[$__rate_interval]))",
              legend=NODE + " SXid {{sxid}}"),
        panel("Other events of the kernel", "timeseries", "New errors of AMD GPUs, of the driver's start, of PCIe and "
              "of the host. " + FIRST,
              "sum by (cluster, node, kind, label) (increase(gpuward_kernel_events_total{N}[$__rate_interval]))",
              legend=NODE + " {{kind}} {{label}}"),
        panel("Findings by severity", "timeseries", "How many findings of each severity there are.",
              "sum by (severity) (gpuward_finding{N})", legend="{{severity}}", colours=SEVERITY_COLOURS, stacked=True),
        row("Memory and PCIe by GPU"),
        of_gpu("Uncorrected ECC errors", "New uncorrected ECC errors.",
               'increase(gpuward_gpu_ecc_errors_total{N,error="uncorrected",counter="volatile"}[$__rate_interval])'),
        of_gpu("Corrected ECC errors", "New corrected ECC errors.",
               'increase(gpuward_gpu_ecc_errors_total{N,error="corrected",counter="volatile"}[$__rate_interval])'),
        of_gpu("PCIe replays", "PCIe packets sent again, per second.",
               "rate(gpuward_gpu_pcie_replays_total{N}[$__rate_interval])", unit="pps"),
        of_gpu("Row waits for a reset", "1 where a row is replaced at the next GPU reset.",
               "gpuward_gpu_remapped_rows_pending{N}"),
        of_gpu("Row could not be replaced", "1 where the board must be replaced.",
               "gpuward_gpu_remapped_rows_failure{N}"),
        of_gpu("Banks without spare rows by GPU", "Memory banks that have no spare row left.",
               'gpuward_gpu_remapped_rows_banks{N,spare_rows="none"}'),
    ], has_nodes=True)


def remediation():
    ages = [('histogram_quantile(%g, sum by (le, milestone) (increase(gpuward_remediator_fault_age_seconds_bucket{J}'
             '[$__range])))' % q, "{{milestone}} p%g" % (q * 100)) for q in QUANTILES]
    return dashboard("gpuward-remediation", "gpuward: remediation", "What is done to unhealthy nodes, and what it "
                     "waits for.", [
        *remediation_now(),
        row("Remediations and what they wait for"),
        panel("Remediations by phase", "timeseries", "Remediations in the API server, closed ones included.",
              "sum by (phase) (max by (cluster, phase, severity) (gpuward_remediator_remediations{J}))",
              legend="{{phase}}", width=12, stacked=True),
        panel("Age of the newest step", "timeseries", "Age of the current step, of the remediation whose step is "
              "the oldest.",
              "time() - min by (phase) (gpuward_remediator_oldest_step_timestamp_seconds{J})", unit="s",
              legend="{{phase}}", width=12),
        panel("Waiting", "timeseries", "Remediations without a running step, by the rule that decided it.",
              "sum by (phase, rule) (max by (cluster, phase, rule) (gpuward_remediator_waiting{J}))",
              legend="{{phase}} {{rule}}", width=12, stacked=True),
        panel("Waiting since", "timeseries", "How long the remediation that has waited longest has made no progress.",
              "time() - min by (rule) (gpuward_remediator_waiting_since_timestamp_seconds{J})", unit="s",
              legend="{{rule}}", width=12),
        row("Budgets"),
        panel("Budgets in use", "bargauge", "Share of each budget that is used. A full budget delays the next step.",
              "gpuward_remediator_budget_used{J} / (gpuward_remediator_budget_allowed{J} > 0)", unit="percentunit",
              legend="{{cluster}} {{budget}} {{scope}}", above=[(0.8, "yellow"), (1, "red")], field={"max": 1}),
        panel("Slots", "timeseries", "Slots of the budgets in use, by purpose.",
              "sum by (harm) (gpuward_remediator_slots{J})", legend="{{harm}}", stacked=True),
        panel("Exclusions", "table", "Nodes and instances that operators have excluded, and for how much longer.",
              "gpuward_remediator_exclusion_expires_timestamp_seconds{J} - time()", unit="s",
              columns=columns("cluster", "subject", value="ends in"), base="blue"),
        row("Actions"),
        panel("From the alert to each milestone", "bargauge", "Time from the first alert until the node was tainted, "
              "cordoned, drained, acted on and back in service, over the range of the dashboard.", ages, unit="s",
              above=[(900, "yellow"), (3600, "red")], width=12),
        panel("Decisions", "timeseries", "Decisions that changed a remediation, by verdict.",
              "sum by (verdict) (increase(gpuward_remediator_decisions_total{J}[$__rate_interval])) > 0",
              legend="{{verdict}}", width=12),
        panel("Actions done", "timeseries", "Actions carried out on nodes.",
              "sum by (action) (increase(gpuward_remediator_actions_total{J}[$__rate_interval]))", legend="{{action}}",
              width=12),
        panel("Actions that failed", "timeseries", "Actions that failed. They are tried again.",
              "sum by (action) (increase(gpuward_remediator_action_failures_total{J}[$__rate_interval]))",
              legend="{{action}}", width=12),
        row("Alerts that fire"),
        alerts(width=24),
    ], has_nodes=False)


def internals():
    def of_program(title, about, metric, unit="short"):
        return panel(title, "timeseries", about, metric + " and on (cluster, job, instance) gpuward_build_info{J}",
                     unit=unit, legend="{{cluster}} {{job}} {{instance}}")
    p99 = ("histogram_quantile(0.99, sum by (le, verb) (rate(gpuward_remediator_api_request_duration_seconds_bucket"
           "{J}[$__rate_interval])))")
    return dashboard("gpuward-internals", "gpuward: internals", "The state of the exporters and the remediator.", [
        row("Now"),
        stat("Configuration refused", "Programs whose newest configuration is invalid; the previous one is in force.",
             "sum(gpuward_config_last_reload_successful{J} == bool 0)", above=RED_AT_1),
        stat("Kernel log not read", "Exporters that cannot read the kernel log.",
             "sum(gpuward_kernel_log_up{J} == bool 0)", above=RED_AT_1),
        stat("State not saved", "Exporters that could not save counters and findings.",
             "sum(gpuward_state_last_save_successful{J} == bool 0)", above=RED_AT_1),
        stat("Remediators ready", "Replicas that know the state of the cluster and reach the API server.",
             "sum(gpuward_remediator_ready{J}) or vector(0)", base="red", above=[(1, "green")]),
        leaders(width=4),
        stat("Notifications lost", "Notifications that a receiver has refused or that were given up, over the range of "
             "the dashboard.", 'sum(increase(gpuward_notifications_total{J,result!="sent"}[$__range])) or vector(0)',
             field={"decimals": 0}, above=RED_AT_1),
        row("Both programs"),
        of_program("CPU", "CPU time of each program, in cores.",
                   "rate(process_cpu_seconds_total{J}[$__rate_interval])"),
        of_program("Memory", "Resident memory of each program.", "process_resident_memory_bytes{J}", unit="bytes"),
        of_program("File descriptors", "Open file descriptors of each program.", "process_open_fds{J}"),
        row("Exporters"),
        panel("Age of the GPU readings", "timeseries", "How old the readings that the exporter shows are.",
              "time() - gpuward_gpu_reading_timestamp_seconds{J}", unit="s", legend=NODE),
        panel("Time of a GPU reading", "timeseries", "How long the driver takes.",
              "gpuward_gpu_reading_duration_seconds{J}", unit="s", legend=NODE),
        panel("Worker restarts", "timeseries", "Restarts of the process that reads the GPU libraries.",
              "increase(gpuward_gpu_worker_restarts_total{J}[$__rate_interval])", legend=NODE),
        panel("Kernel log", "timeseries", "Records read from the kernel log, per second.",
              "rate(gpuward_kernel_log_lines_total{J}[$__rate_interval])", unit="cps", legend=NODE, width=12),
        panel("Kernel records lost", "timeseries", "Records that were overwritten before they could be read.",
              "increase(gpuward_kernel_log_lost_records_total{J}[$__rate_interval])", legend=NODE, width=12),
        row("Remediator"),
        panel("Webhook answers", "timeseries", "Answers of the webhook per second, by HTTP status.",
              "sum by (code) (rate(gpuward_remediator_webhook_requests_total{J}[$__rate_interval]))", unit="reqps",
              legend="{{code}}"),
        panel("Time of a webhook answer", "timeseries", "Mean time of an answer.",
              "rate(gpuward_remediator_webhook_seconds_total{J}[$__rate_interval]) / "
              "rate(gpuward_remediator_notifications_total{J}[$__rate_interval])", unit="s",
              legend="{{cluster}} {{instance}}"),
        panel("Queue", "timeseries", "Nodes waiting to be checked.", "gpuward_remediator_queue_length{J}",
              legend="{{cluster}} {{instance}}"),
        panel("API server, p99", "timeseries", "Time of requests to the API server, by HTTP method.", p99, unit="s",
              legend="{{verb}}"),
        panel("Errors of the API server", "timeseries", "Failed reads, writes and watches.",
              "sum by (kind) (increase(gpuward_remediator_errors_total{J}[$__rate_interval]))", legend="{{kind}}"),
        panel("Lag of the sources", "timeseries", "How far a source's newest data lags behind the current time.",
              "gpuward_remediator_source_lag_seconds{J}", unit="s", legend="{{cluster}} {{source}}"),
        panel("Notifications", "timeseries", "Notifications to a sink, by result.",
              "sum by (sink, result) (increase(gpuward_notifications_total{J}[$__rate_interval]))",
              legend="{{sink}} {{result}}", width=12),
        panel("Notifications waiting", "timeseries", "Notifications that a sink has not accepted yet.",
              "sum by (sink) (gpuward_notifications_waiting{J})", legend="{{sink}}", width=12),
    ], has_nodes=False)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for make in (fleet, node, errors, remediation, internals):
        write(folder, make())


main()
