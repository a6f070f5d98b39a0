#!/usr/bin/env python3
"""draw.py PROMETHEUS_URL FOLDER [MINUTES [NODE]]: draws each dashboard with the data that Prometheus has, as PNG, and
the node dashboard with that node chosen.

Reads the files of dashboards/ (places, titles, units, thresholds, words and colours of states) and runs their queries.
It is not Grafana; each picture states that. Needs matplotlib.
"""
import datetime
import json
import pathlib
import re
import sys
import time
import urllib.parse
import urllib.request

import matplotlib
matplotlib.use("Agg")
import matplotlib.dates
import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WIDTH, COLUMN, ROW, GAP, HEAD = 1680, 70, 38, 8, 64  # pixels
COLOURS = {"green": "#56a64b", "blue": "#3274d9", "yellow": "#e0b400", "orange": "#ff780a", "red": "#e02f44",
           "text": "#d8d9da"}
SERIES = ["#73bf69", "#f2cc0c", "#8ab8ff", "#ff9830", "#f2495c", "#b877d9", "#5794f2", "#ffa6b0", "#96d98d", "#fade2a"]
PAGE, BOARD, INK, FAINT = "#111217", "#1c1e24", "#d8d9da", "#8e8f94"
SCRAPE = 5  # seconds, as in alerts/prometheus.yaml


class Prometheus:
    def __init__(self, url, minutes, node):
        self.node = node
        self.url, self.end, self.length = url, time.time(), minutes * 60
        self.step = max(SCRAPE, self.length // 240)

    def ask(self, path, **fields):
        variables = {"$cluster": ".*", "$job": ".+", "$instance": ".+", "$node": self.node,
                     "$__range": "%ds" % self.length, "$__rate_interval": "%ds" % max(4 * SCRAPE, self.step)}
        for name, value in variables.items():
            fields["query"] = fields["query"].replace(name, value)
        with urllib.request.urlopen(self.url + "/api/v1/" + path + "?" + urllib.parse.urlencode(fields)) as answer:
            return json.load(answer)["data"]["result"]

    def now(self, expr):
        return [(one["metric"], float(one["value"][1])) for one in self.ask("query", query=expr, time=self.end)]

    def over_time(self, expr):
        found = self.ask("query_range", query=expr, start=self.end - self.length, end=self.end, step=self.step)
        return [(one["metric"], [(float(at), float(value)) for at, value in one["values"]]) for one in found]


def named(metric, legend):
    if legend == "__auto":
        return ", ".join(value for key, value in metric.items() if key not in ("__name__", "job", "instance")) or ""
    return re.sub(r"\{\{(\w+)\}\}", lambda word: metric.get(word[1], ""), legend).strip()


def with_unit(value, unit):
    if unit == "s":
        for size, word in ((86400, "day"), (3600, "h"), (60, "min")):
            if abs(value) >= size:
                return "%.3g %s" % (value / size, word)
        return "%.3g s" % value if abs(value) >= 0.1 or value == 0 else "%.3g ms" % (value * 1000)
    if unit == "percentunit":
        return "%.3g%%" % (value * 100)
    base, words = (1024, ["", "Ki", "Mi", "Gi", "Ti"]) if unit == "bytes" else (1000, ["", "k", "M", "G", "T"])
    power = 0
    while abs(value) >= base and power < len(words) - 1:
        value, power = value / base, power + 1
    ending = {"bytes": "B", "celsius": "°C", "watt": "W", "hertz": "Hz", "cps": "c/s", "pps": "p/s", "reqps": "req/s"}
    return ("%.3g %s%s" % (value, words[power], ending.get(unit, ""))).strip()


def state_of(value, field):
    """The word and the colour for a number or a text."""
    number = isinstance(value, float)
    for mapping in field.get("mappings", []):
        state = mapping["options"].get("%g" % value if number else value)
        if state:
            return state["text"], COLOURS.get(state.get("color"))
    colour = None
    if number:
        for step in field.get("thresholds", {}).get("steps", []):
            if step["value"] is None or value >= step["value"]:
                colour = COLOURS[step["color"]]
    return (with_unit(value, field.get("unit", "short")) if number else value), colour


class Picture:
    def __init__(self, board, prometheus):
        self.board, self.prometheus = board, prometheus
        bottom = max(one["gridPos"]["y"] + one["gridPos"]["h"] for one in board["panels"])
        self.height = HEAD + bottom * ROW + GAP
        self.figure = plt.figure(figsize=(WIDTH / 100, self.height / 100), dpi=100, facecolor=PAGE)
        self.write(16, 22, board["title"], size=15, weight="bold")
        self.write(16, 46, "Panels of dashboards/%s.json with the data of a real Prometheus that watched simulated "
                   "GPUs. Drawn by tests/dashboards/draw.py, not by Grafana." % board["uid"], colour=FAINT)
        self.events = [(at, COLOURS[one["iconColor"]]) for one in board["annotations"]["list"]
                       for _, values in prometheus.over_time(one["expr"])
                       for before, (at, _) in zip([0] + [at for at, _ in values], values)
                       if at - before > prometheus.step]

    def write(self, x, y, text, size=9.5, colour=INK, **more):
        more = {"va": "center", **more}
        return self.figure.text(x / WIDTH, 1 - y / self.height, text, fontsize=size, color=colour, parse_math=False,
                                **more)

    def box(self, x, y, width, height, colour):
        self.figure.add_artist(Rectangle((x / WIDTH, 1 - (y + height) / self.height), width / WIDTH,
                                         height / self.height, facecolor=colour, transform=self.figure.transFigure,
                                         zorder=-1))

    def axes(self, x, y, width, height):
        axes = self.figure.add_axes([x / WIDTH, 1 - (y + height) / self.height, width / WIDTH, height / self.height],
                                    facecolor="none")
        axes.tick_params(colors=FAINT, labelsize=8, length=0)
        for side in axes.spines.values():
            side.set_visible(False)
        axes.xaxis.set_major_formatter(matplotlib.dates.DateFormatter("%H:%M"))
        axes.set_xlim(*(datetime.datetime.fromtimestamp(self.prometheus.end - ago)
                        for ago in (self.prometheus.length, 0)))
        each = max(1, self.prometheus.length // 300) * (1 if width > 500 else 2)
        axes.xaxis.set_major_locator(matplotlib.dates.MinuteLocator(byminute=range(0, 60, min(each, 30))))
        return axes

    def draw(self, folder):
        """Draws `dashboard-NAME.png`; the method with the name of a panel's kind draws the panel."""
        for panel in self.board["panels"]:
            place = panel["gridPos"]
            x, y = place["x"] * COLUMN + GAP / 2, HEAD + place["y"] * ROW
            width, height = place["w"] * COLUMN - GAP, place["h"] * ROW - GAP
            if panel["type"] == "row":
                self.write(x + 4, y + height / 2, "▾ " + panel["title"], size=11, weight="bold")
                continue
            self.box(x, y, width, height, BOARD)
            inside = (x + 10, y + 32, width - 20, height - 42)
            getattr(self, panel["type"].replace("-", "_"))(panel, panel["fieldConfig"]["defaults"], *inside)
            self.write(x + 10, y + 16, panel["title"], weight="bold", size=10)
        name = "dashboard-" + self.board["uid"].removeprefix("gpuward-") + ".png"
        self.figure.savefig(folder / name, facecolor=PAGE)
        plt.close(self.figure)

    def empty(self, x, y, width, height):
        self.write(x + width / 2, y + height / 2 - 6, "No data", colour=FAINT, ha="center", size=11)

    def newest(self, panel):
        return [(named(metric, target["legendFormat"]), value) for target in panel["targets"]
                for metric, value in self.prometheus.now(target["expr"]) if value == value]

    def ranges(self, panel):
        return [(named(metric, target["legendFormat"]), [(at, value) for at, value in values if value == value])
                for target in panel["targets"] for metric, values in self.prometheus.over_time(target["expr"])]

    def stat(self, panel, field, x, y, width, height):
        found = self.newest(panel)
        if not found:
            return self.empty(x, y, width, height)
        name, value = found[0]
        text, colour = state_of(float(round(value)) if field.get("decimals") == 0 else value, field)
        if panel["options"]["textMode"] == "name":
            text = name
        self.box(x - 10, y - 32, width + 20, height + 42, colour)
        self.write(x + width / 2, y + height / 2, text, size=24 if len(text) < 9 else 17, colour="white", ha="center",
                   weight="bold")

    def timeseries(self, panel, field, x, y, width, height):
        series = [(name, values) for name, values in self.ranges(panel) if values]
        if not series:
            return self.empty(x, y, width, height)
        series.sort()
        axes = self.axes(x + 58, y, width - 62, height - 42)
        fixed = {one["matcher"]["options"]: COLOURS[one["properties"][0]["value"]["fixedColor"]]
                 for one in panel["fieldConfig"]["overrides"]}
        colours = [fixed.get(name, SERIES[i % len(SERIES)]) for i, (name, _) in enumerate(series)]
        if field["custom"]["drawStyle"] == "bars":
            below = {}
            for (_, values), colour in zip(series, colours):
                at = [datetime.datetime.fromtimestamp(one) for one, _ in values]
                axes.bar(at, [value for _, value in values], bottom=[below.get(one, 0) for one, _ in values],
                         width=self.prometheus.step / 86400, color=colour, alpha=0.75)
                below.update({one: below.get(one, 0) + value for one, value in values})
        elif field["custom"]["stacking"]["mode"] == "normal":
            times = sorted({at for _, values in series for at, _ in values})
            stack = [[dict(values).get(at, 0) for at in times] for _, values in series]
            axes.stackplot([datetime.datetime.fromtimestamp(at) for at in times], stack, colors=colours, alpha=0.75)
        else:
            for (_, values), colour in zip(series, colours):
                at = [datetime.datetime.fromtimestamp(one) for one, _ in values]
                axes.plot(at, [value for _, value in values], color=colour, linewidth=1.2)
        most = max(value for _, values in series for _, value in values)
        axes.set_ylim(bottom=0, top=axes.get_ylim()[1] if most > 0 else 1)
        axes.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(5))
        axes.yaxis.set_major_formatter(lambda value, _: with_unit(value, field["unit"]))
        axes.grid(color="#2c2f36", linewidth=0.6)
        for at, colour in self.events:
            axes.axvline(datetime.datetime.fromtimestamp(at), color=colour, linewidth=0.8, linestyle="--", alpha=0.7)
        self.legend(series, colours, x, y + height - 6, width)

    def legend(self, series, colours, x, y, width):
        end, left = x + width - 70, x
        for number, ((name, _), colour) in enumerate(zip(series, colours)):
            needed = 18 + 6.9 * len(name)
            if left + needed > end and number:
                self.write(left, y, "and %d more" % (len(series) - number), colour=FAINT, size=8.5)
                return
            self.box(left, y - 1, 12, 3, colour)
            self.write(left + 16, y, name or "value", colour=INK, size=8.5)
            left += needed + 10

    def state_timeline(self, panel, field, x, y, width, height):
        series = sorted(self.ranges(panel))
        if not series:
            return self.empty(x, y, width, height)
        room = int(height - 22) // 15
        axes = self.axes(x + 130, y, width - 134, height - 22)
        for line, (name, values) in enumerate(series[:room]):
            runs = []
            for at, value in values:
                if not runs or runs[-1][2] != value:
                    runs.append([at, at, value])
                runs[-1][1] = at + self.prometheus.step
            for start, end, value in runs:
                text, colour = state_of(value, field)
                bounds = [matplotlib.dates.date2num(datetime.datetime.fromtimestamp(one)) for one in (start, end)]
                axes.barh(line, bounds[1] - bounds[0], left=bounds[0], color=colour, height=0.86)
                if end - start > self.prometheus.length / 8:
                    axes.text(sum(bounds) / 2, line, text, color="white", ha="center", va="center", fontsize=8)
        axes.set_ylim(min(room, len(series)) - 0.5, -0.5)
        axes.set_yticks(range(min(room, len(series))), [name for name, _ in series[:room]])

    def bargauge(self, panel, field, x, y, width, height):
        found = sorted(self.newest(panel))
        if not found:
            return self.empty(x, y, width, height)
        most = field.get("max", max(value for _, value in found)) or 1
        each = min(34, height / len(found))
        names = 30 + 6.4 * max(len(name) for name, _ in found)
        for line, (name, value) in enumerate(found):
            text, colour = state_of(value, field)
            middle, space = y + each * (line + 0.5), width - names - 70
            self.write(x, middle, name, size=8.5)
            self.box(x + names, middle - each * 0.36, space, each * 0.72, "#2c2f36")
            self.box(x + names, middle - each * 0.36, max(2, space * min(1, value / most)), each * 0.72, colour)
            self.write(x + width, middle, text, ha="right", colour=colour)

    def table(self, panel, field, x, y, width, height):
        names = panel["transformations"][0]["options"]["include"]["names"]
        heading = panel["transformations"][1]["options"]["renameByName"]
        found = [one for target in panel["targets"] for one in self.prometheus.now(target["expr"])]
        if not found:
            return self.empty(x, y, width, height)
        names = [name for name in names if name == "Value" or any(name in metric for metric, _ in found)]
        rows = [[value if name == "Value" else metric.get(name, "") for name in names] for metric, value in found]
        if "alertname" in names:
            rows.sort()
        styles = [{one["id"]: one["value"] for override in panel["fieldConfig"]["overrides"]
                   if override["matcher"]["options"] == heading.get(name, name) for one in override["properties"]}
                  for name in names]
        cells = [[state_of(cell, style) for cell, style in zip(row, styles)] for row in rows]
        longest = [max([len(heading.get(name, name))] + [min(44, len(row[i][0])) for row in cells])
                   for i, name in enumerate(names)]
        edges = [x]
        for one in longest:
            edges.append(edges[-1] + width * (one + 2) / (sum(longest) + 2 * len(names)))
        for i, name in enumerate(names):
            self.write(edges[i], y + 8, heading.get(name, name), colour="#6e9fff", size=9)
        room = int((height - 20) // 22)
        for line, row in enumerate(cells[:room]):
            top = y + 22 + line * 22
            for i, (text, colour) in enumerate(row):
                filled = colour and colour != COLOURS["text"] and "custom.cellOptions" in styles[i]
                if filled:
                    self.box(edges[i] - 4, top, edges[i + 1] - edges[i] - 2, 20, colour)
                limit = int((edges[i + 1] - edges[i]) / 7)
                link = "links" in styles[i] and text
                self.write(edges[i], top + 10, text if len(text) <= limit else text[:limit - 1] + "…", size=9,
                           colour="#8ab8ff" if link else "white" if filled else INK)
        if len(cells) > room:
            self.write(x + width, y + height + 4, "%d of %d rows" % (room, len(cells)), colour=FAINT, ha="right",
                       size=8.5)


def main():
    url, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    minutes = int(sys.argv[3]) if len(sys.argv) > 3 else 15
    node = sys.argv[4] if len(sys.argv) > 4 else ".+"
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted((ROOT / "dashboards").glob("*.json")):
        chosen = node if file.stem == "gpuward-node" else ".+"
        Picture(json.loads(file.read_text()), Prometheus(url, minutes, chosen)).draw(folder)


main()
