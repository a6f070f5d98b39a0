"""What Grafana calls a dashboard, from a few words: used by make.py alone.

In an expression `{J` is short for the selector of the chosen jobs, `{N` for those of the chosen nodes too.
"""
import json

# The remediator serves them. A variable of the dashboard says where; as it comes, it is on this machine after
# `kubectl -n gpuward port-forward service/gpuward-remediator 10982`.
RUNBOOKS = "http://localhost:10982/runbooks"
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
SEVERITIES = ["none", "monitor", "reset", "reboot", "isolate"]
COLOURS = ["green", "blue", "yellow", "orange", "red"]
WIDTH = 24


def selected(expr):
    """The expression with the variables of the dashboard in its selectors."""
    nodes = 'job=~"$job",node=~"$node"'
    for short, long in (("{N}", "{%s}" % nodes), ("{N,", "{%s," % nodes),
                        ("{J}", '{job=~"$job"}'), ("{J,", '{job=~"$job",')):
        expr = expr.replace(short, long)
    return expr


def severity_mapping():
    options = {str(i): {"text": word, "color": colour, "index": i}
               for i, (word, colour) in enumerate(zip(SEVERITIES, COLOURS))}
    return [{"type": "value", "options": options}]


def panel(title, kind, about, exprs, unit="short", legend="", width=8, height=8, severity=False,
          columns=None, overrides=None):
    """One panel; `exprs` is one expression or (expression, legend) pairs; `columns` are a table's."""
    if isinstance(exprs, str):
        exprs = [(exprs, legend)]
    is_table = kind == "table"
    targets = [{"refId": chr(ord("A") + i), "datasource": DATASOURCE, "expr": selected(expr),
                "legendFormat": legend or "__auto", "instant": is_table or kind in ("stat", "bargauge"),
                "range": not is_table and kind not in ("stat", "bargauge"),
                "format": "table" if is_table else "time_series"}
               for i, (expr, legend) in enumerate(exprs)]
    defaults = {"unit": unit, "min": 0, "custom": {}}
    if severity:
        defaults["mappings"] = severity_mapping()
    result = {"type": kind, "title": title, "description": about, "datasource": DATASOURCE,
              "gridPos": {"w": width, "h": height}, "targets": targets,
              "fieldConfig": {"defaults": defaults, "overrides": overrides or []}, "options": {}}
    if is_table:
        shown = {name: i for i, name in enumerate(columns)}
        result["transformations"] = [{"id": "filterFieldsByName", "options": {"include": {"names": columns}}},
                                     {"id": "organize", "options": {"indexByName": shown}}]
    return result


def runbook_column():
    """The name of an alert leads to its page."""
    link = {"title": "Runbook", "url": "${runbooks}/${__value.text}", "targetBlank": True}
    return [{"matcher": {"id": "byName", "options": "alertname"},
             "properties": [{"id": "links", "value": [link]}]}]


def variable(name, label, query):
    return {"name": name, "label": label, "type": "query", "datasource": DATASOURCE,
            "query": query, "definition": query, "refresh": 2, "sort": 1, "multi": True,
            "includeAll": True, "allValue": ".+", "current": {"selected": True, "text": "All", "value": "$__all"}}


def annotation(name, expr, colour, title):
    return {"name": name, "enable": True, "datasource": DATASOURCE, "expr": expr, "step": "30s",
            "iconColor": colour, "titleFormat": title, "useValueForTime": False}


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


def dashboard(uid, title, about, of_jobs, panels, has_nodes):
    variables = [{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus",
                  "current": {}},
                 variable("job", "job", "label_values(%s, job)" % of_jobs)]
    if has_nodes:
        variables.append(variable("node", "node", 'label_values(%s{job=~"$job"}, node)' % of_jobs))
    variables.append({"name": "runbooks", "label": "Runbooks", "type": "textbox", "query": RUNBOOKS,
                      "current": {"text": RUNBOOKS, "value": RUNBOOKS}})
    node = ',node=~"$node"' if has_nodes else ""
    return {
        "uid": uid, "id": None, "title": title, "description": about, "tags": ["gpuward"],
        "schemaVersion": 39, "version": 1, "editable": False, "graphTooltip": 1, "refresh": "1m",
        "timezone": "browser", "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": variables},
        "annotations": {"list": [
            annotation("Remediation", "changes(gpuward_remediator_actions_total[1m]) > 0", "blue",
                       "gpuward: {{action}}"),
            annotation("Ordered", 'ALERTS{remediation=~"isolate|reboot|reset",alertstate="firing"%s}' % node,
                       "red", "{{node}}: {{remediation}}")]},
        "links": [{"title": "Runbooks", "type": "link", "url": "${runbooks}", "targetBlank": True, "icon": "doc"},
                  {"title": "gpuward", "type": "dashboards", "tags": ["gpuward"], "asDropdown": True,
                   "includeVars": True, "keepTime": True}],
        "panels": placed(panels)}


def write(folder, board):
    path = folder / (board["uid"] + ".json")
    path.write_text(json.dumps(board, indent=2, ensure_ascii=False) + "\n")
