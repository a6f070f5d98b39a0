"""What Grafana calls a dashboard, from a few words: used by make.py alone.

In an expression `{J` is short for the selector of the chosen clusters, jobs and instances, `{N` for those of the
chosen nodes too, `{JOB` for that of the clusters and jobs alone (recording rules add up the instances), `{ALERTS}` for
the alerts of gpuward that fire. An aggregation that keeps `node`, or that drops the replicas of a remediator, keeps
`cluster` too: names of nodes repeat from cluster to cluster.
"""
import json

# The remediator's pages and runbooks. A variable of the dashboard says where they are; as it comes, on this machine
# after `kubectl -n gpuward port-forward service/gpuward-remediator 10982`. The chart puts `externalURL` there.
REMEDIATOR = "http://localhost:10982"
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
CLUSTER = 'cluster=~"$cluster"'
JOB = CLUSTER + ',job=~"$job"'
CHOSEN = JOB + ',instance=~"$instance"'
WIDTH = 24

SEVERITIES = {0: ("healthy", "green"), 1: ("monitor", "blue"), 2: ("reset", "yellow"), 3: ("reboot", "orange"),
              4: ("isolate", "red")}
SEVERITY_COLOURS = dict(SEVERITIES.values())
STATUS_COLOURS = {"pass": "green", "warn": "yellow", "fail": "red", "error": "orange", "skip": "text"}


def link(title, url, new_tab=True):
    return {"title": title, "url": url, "targetBlank": new_tab}


def dashboard_link(title, uid, chosen):
    """To another dashboard of the same data source and time range, with these variables chosen."""
    return link(title, "/d/%s?${datasource:queryparam}&%s&${__url_time_range}" % (uid, chosen), new_tab=False)


def remediator_page(node):
    return link("The remediator's page of the node", "${remediator_url}/nodes/" + node)


def coloured(words):
    """Words that are shown as they are, in their colour."""
    options = {word: {"text": word, "color": colour, "index": i} for i, (word, colour) in enumerate(words.items())}
    return [{"id": "mappings", "value": [{"type": "value", "options": options}]}, BACKGROUND]


BACKGROUND = {"id": "custom.cellOptions", "value": {"type": "color-background", "mode": "basic"}}
# What each column of any table is for.
COLUMNS = {
    # Series of one cluster alone may have no label `cluster`: only its own column can say which one a row is of.
    "cluster": [{"id": "links", "value": [
        dashboard_link("Dashboard of the cluster's fleet", "gpuward-fleet", "var-cluster=${__value.text}"),
        dashboard_link("Dashboard of the node in this cluster", "gpuward-node",
                       "var-cluster=${__value.text}&var-node=${__data.fields.node}")]}],
    "node": [{"id": "links", "value": [
        dashboard_link("Dashboard of the node", "gpuward-node", "${cluster:queryparam}&var-node=${__value.text}"),
        remediator_page("${__value.text}")]}],
    "alertname": [{"id": "links", "value": [link("Runbook", "${remediator_url}/runbooks/${__value.text}")]}],
    "severity": coloured({**SEVERITY_COLOURS, "info": "blue", "warning": "yellow", "critical": "red"}),
    "remediation": coloured({word: SEVERITY_COLOURS[word] for word in ("reset", "reboot", "isolate")}),
    "status": coloured(STATUS_COLOURS),
}


def selected(expr):
    """The expression with the variables of the dashboard in its selectors."""
    for short, chosen in (("N", CHOSEN + ',node=~"$node"'), ("J", CHOSEN), ("JOB", JOB)):
        expr = expr.replace("{%s}" % short, "{%s}" % chosen).replace("{%s," % short, "{%s," % chosen)
    return expr.replace("{ALERTS}", 'ALERTS{%s,alertname=~"Gpu.*",alertname!="GpuwardDeadMansSwitch",'
                        'alertstate="firing"}' % CLUSTER)


def thresholds(base, steps):
    return {"mode": "absolute", "steps": [{"color": base, "value": None}] +
            [{"color": colour, "value": value} for value, colour in steps]}


def look(above, base, states):
    """Colours of a number: those of the steps that it reaches, or of the states that it stands for."""
    if not states:
        return {"thresholds": thresholds(base, above)}
    options = {str(number): {"text": word, "color": colour, "index": i}
               for i, (number, (word, colour)) in enumerate(states.items())}
    steps = sorted((number, colour) for number, (_, colour) in states.items())
    return {"thresholds": thresholds(steps[0][1], steps[1:]), "mappings": [{"type": "value", "options": options}]}


def options_of(kind):
    newest = {"calcs": ["lastNotNull"], "fields": "", "values": False}
    legend = {"displayMode": "list", "placement": "bottom", "showLegend": True}
    return {
        "stat": {"colorMode": "background", "graphMode": "none", "textMode": "auto", "justifyMode": "auto",
                 "reduceOptions": newest},
        "bargauge": {"displayMode": "basic", "orientation": "horizontal", "showUnfilled": True,
                     "reduceOptions": newest},
        "timeseries": {"legend": legend, "tooltip": {"mode": "multi", "sort": "desc"}},
        "state-timeline": {"legend": legend, "mergeValues": True, "showValue": "auto", "rowHeight": 0.9},
        "table": {"showHeader": True, "cellHeight": "sm"}}[kind]


def cells(columns, unit, colours, mappings):
    """The columns of a table by their headings: links and colours; those of the value are the panel's own."""
    properties = {columns[name]: own for name, own in COLUMNS.items() if name in columns}
    properties.update({name: [{"id": "mappings", "value": value}] for name, value in (mappings or {}).items()})
    if "Value" in columns:
        own = [{"id": "unit", "value": unit}] + [{"id": key, "value": value} for key, value in colours.items()]
        properties[columns["Value"]] = own + [BACKGROUND]
    return [{"matcher": {"id": "byName", "options": name}, "properties": own} for name, own in properties.items()]


def panel(title, kind, about, exprs, unit="short", legend="", width=8, height=8, *, above=(), base="green",
          states=None, columns=None, colours=None, stacked=False, mappings=None, field=None,
          options=None):
    """One panel. `exprs` is one expression or (expression, legend) pairs; `above` are (number, colour) steps over
    `base`, or `states` says what each number stands for; `columns` are a table's, name to heading; `colours` are those
    of series by name; `field` and `options` are what else Grafana may be told."""
    if isinstance(exprs, str):
        exprs = [(exprs, legend)]
    is_table, newest = kind == "table", kind in ("stat", "bargauge", "table")
    targets = [{"refId": chr(ord("A") + i), "datasource": DATASOURCE, "expr": selected(expr),
                "legendFormat": legend or "__auto", "instant": newest, "range": not newest,
                "format": "table" if is_table else "time_series"}
               for i, (expr, legend) in enumerate(exprs)]
    defaults = {"unit": unit, "min": 0, "custom": {}, **(field or {})}
    overrides = [{"matcher": {"id": "byName", "options": name},
                  "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": colour}}]}
                 for name, colour in (colours or {}).items()]
    if kind == "timeseries":
        is_count = any("increase(" in expr for expr, _ in exprs)  # of events: a bar for each interval
        stacked = stacked or is_count
        defaults["custom"] = {"drawStyle": "bars" if is_count else "line", "fillOpacity": 60 if stacked else 10,
                              "stacking": {"mode": "normal" if stacked else "none"}}
    elif is_table:
        overrides = cells(columns, unit, look(above, base, states), mappings)
    else:
        defaults.update(look(above, base, states), color={"mode": "thresholds"})
    result = {"type": kind, "title": title, "description": about, "datasource": DATASOURCE,
              "gridPos": {"w": width, "h": height}, "targets": targets,
              "fieldConfig": {"defaults": defaults, "overrides": overrides},
              "options": {**options_of(kind), **(options or {})}}
    if is_table:
        result["transformations"] = [
            {"id": "filterFieldsByName", "options": {"include": {"names": list(columns)}}},
            {"id": "organize", "options": {"indexByName": {name: i for i, name in enumerate(columns)},
                                           "renameByName": {name: text for name, text in columns.items()
                                                            if name != text}}}]
    return result


def stat(title, about, expr, width=4, **more):
    return panel(title, "stat", about, expr, width=width, height=4, **more)


def row(title):
    return {"type": "row", "title": title, "collapsed": False, "panels": [], "gridPos": {"w": WIDTH, "h": 1}}


def variable(name, label, query, all_values=".+"):
    return {"name": name, "label": label, "type": "query", "datasource": DATASOURCE,
            "query": query, "definition": query, "refresh": 2, "sort": 1, "multi": True,
            "includeAll": True, "allValue": all_values, "current": {"selected": True, "text": "All", "value": "$__all"}}


def annotation(name, expr, colour, title):
    return {"name": name, "enable": True, "datasource": DATASOURCE, "expr": expr, "step": "30s",
            "iconColor": colour, "titleFormat": title, "tagKeys": "cluster", "useValueForTime": False}


def placed(panels):
    """From left to right, a new line where the next panel does not fit."""
    x = y = line = 0
    for number, one in enumerate(panels, 1):
        grid = one["gridPos"]
        if x + grid["w"] > WIDTH:
            x, y, line = 0, y + line, 0
        grid.update({"x": x, "y": y})
        x, line = x + grid["w"], max(line, grid["h"])
        one["id"] = number
    return panels


def dashboard(uid, title, about, panels, has_nodes):
    variables = [{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus",
                  "current": {}},
                 # All of them includes series without the label, which are those of a single cluster.
                 variable("cluster", "Cluster", "label_values(gpuward_build_info, cluster)", all_values=".*"),
                 variable("job", "Job", "label_values(gpuward_build_info{%s}, job)" % CLUSTER),
                 variable("instance", "Instance", "label_values(gpuward_build_info{%s}, instance)" % JOB)]
    if has_nodes:
        variables.append(variable("node", "Node", "label_values(gpuward_node_severity{%s}, node)" % CHOSEN))
    variables.append({"name": "remediator_url", "label": "Remediator", "type": "textbox", "query": REMEDIATOR,
                      "current": {"text": REMEDIATOR, "value": REMEDIATOR}})
    node = ',node=~"$node"' if has_nodes else ""
    return {
        "uid": uid, "id": None, "title": title, "description": about, "tags": ["gpuward"],
        "schemaVersion": 39, "version": 1, "editable": False, "graphTooltip": 1, "refresh": "1m",
        "timezone": "browser", "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": variables},
        # The remediator counts milestones for all nodes together; alerts are those of the chosen nodes.
        "annotations": {"list": [
            annotation("Remediation milestones, all nodes",
                       "sum by (cluster, milestone) (increase(gpuward_remediator_fault_age_seconds_count{%s}[2m])) > 0"
                       % CLUSTER, "blue", "remediation: {{milestone}}"),
            annotation("Alerts that ask for a remediation",
                       'ALERTS{remediation=~"isolate|reboot|reset",alertstate="firing",%s%s}' % (CLUSTER, node), "red",
                       "{{node}}: {{remediation}}")]},
        "links": [{**link("Remediator", "${remediator_url}/"), "type": "link", "icon": "external link"},
                  {**link("Runbooks", "${remediator_url}/runbooks"), "type": "link", "icon": "doc"},
                  {"title": "gpuward", "type": "dashboards", "tags": ["gpuward"], "asDropdown": True,
                   "includeVars": True, "keepTime": True}],
        "panels": placed(panels)}


def write(folder, board):
    path = folder / (board["uid"] + ".json")
    path.write_text(json.dumps(board, indent=2, ensure_ascii=False) + "\n")
