// The series that Prometheus has of a fleet: few samples, each of which holds until the next
// (past.h).
#include <algorithm>
#include <array>
#include <set>

#include "tests/alerts/month/fleet.h"
#include "tests/alerts/month/past.h"

namespace gpuward::alerts {
namespace {

constexpr seconds kQuiet = std::chrono::minutes(20);  // longer than any alert keeps firing
constexpr std::array<const char*, 5> kSeverities{"none", "monitor", "reset", "reboot", "isolate"};

// A series in pieces; it is stale between two of them.
class Pieces {
 public:
  explicit Pieces(seconds end) : end_(end) {}
  void add(const std::string& name, Labels labels, Span span, double value) {
    labels["__name__"] = name;
    span.to = std::min(span.to, end_);
    if (span.from < span.to) pieces_[std::move(labels)].emplace(span.from, Piece{span.to, value});
  }
  [[nodiscard]] std::vector<Series> series() const {
    std::vector<Series> out;
    for (const auto& [labels, pieces] : pieces_) out.push_back(series(labels, pieces));
    return out;
  }

 private:
  struct Piece {
    seconds to{};
    double value = 0;
  };
  [[nodiscard]] Series series(const Labels& labels, const std::map<seconds, Piece>& pieces) const {
    Series out{.labels = labels, .samples = {}};
    for (auto piece = pieces.begin(); piece != pieces.end(); ++piece) {
      const auto& [from, rest] = *piece;
      for (seconds at = from; at < rest.to; at += Past::kSampleHolds / 2) {
        out.samples.push_back({at, rest.value});
      }
      const auto next = std::next(piece);
      if (rest.to < end_ && (next == pieces.end() || next->first > rest.to)) {
        out.samples.push_back({rest.to, stale_value()});
      }
    }
    return out;
  }
  seconds end_;
  std::map<Labels, std::map<seconds, Piece>> pieces_;
};

bool is_in(const std::vector<Span>& spans, seconds at) {
  return std::ranges::any_of(spans, [at](const Span& span) { return span.contains(at); });
}

Labels finding_labels(const Finding& finding) {
  return {{"check", finding.check},
          {"code", finding.code},
          {"pci_bus_id", "0000:1a:00"},
          {"gpu", "0"},
          {"cleared_by", "check"},
          {"evidence", "measured"},
          {"severity", kSeverities.at(static_cast<std::size_t>(finding.severity))}};
}

// The samples of an exporter while it answers and its node does not change.
void scrape(const Node& node, Labels target, Span span, Pieces& pieces) {
  int worst = 0;
  for (const Finding& finding : node.findings) {
    if (!finding.span.contains(span.from)) continue;
    worst = std::max(worst, finding.severity);
    Labels labels = finding_labels(finding);
    labels.insert(target.begin(), target.end());
    pieces.add("gpuward_finding", labels, span, 1);
    labels.erase("severity");
    const auto first = static_cast<double>((kEpoch + finding.span.from).count());
    pieces.add("gpuward_finding_first_seen_timestamp_seconds", labels, span, first);
    pieces.add("gpuward_finding_last_seen_timestamp_seconds", labels, span, first);
  }
  pieces.add("gpuward_node_severity", target, span, worst);
  pieces.add("gpuward_inventory_up", target, span, 1);
  pieces.add("gpuward_findings_updated_timestamp_seconds", target, span, 1);
  target["instance_type"] = "p5.48xlarge";
  pieces.add("gpuward_instance_info", target, span, 1);
}

// The times between two changes.
std::vector<Span> pieces_of(const Node& node, seconds end) {
  std::set<seconds> changes{seconds(0), end};
  const auto note = [&](const Span& span) { changes.insert({span.from, std::min(span.to, end)}); };
  for (const Span& span : node.down) note(span);
  for (const Span& span : node.gone) note(span);
  for (const Finding& finding : node.findings) note(finding.span);
  std::vector<Span> spans;
  for (auto at = changes.begin(); *at < end; ++at) spans.push_back({*at, *std::next(at)});
  return spans;
}

// The parts of a piece that are written: a long quiet piece has only its start and its end.
std::vector<Span> parts_of(const Node& node, const Span& span, Detail detail) {
  const bool is_quiet =
      !is_in(node.down, span.from) && std::ranges::none_of(node.findings, [&](const Finding& one) {
        return one.span.contains(span.from);
      });
  if (detail == Detail::kAll || !is_quiet || span.to - span.from < 2 * kQuiet) return {span};
  return {{span.from, span.from + kQuiet}, {span.to - kQuiet, span.to}};
}

}  // namespace

std::vector<Series> series_of(const Node& node, seconds end, Detail detail) {
  Pieces pieces(end);
  for (const Span& span : pieces_of(node, end)) {
    if (is_in(node.gone, span.from)) continue;
    const auto pods =
        std::ranges::count_if(node.gone, [&](const Span& gone) { return gone.to <= span.from; });
    const std::string pod = node.name + "-" + std::to_string(pods);
    const Labels target{{"job", "gpuward-exporter"},
                        {"node", node.name},
                        {"instance", pod + ":10980"},
                        {"pod", pod}};
    for (const Span& part : parts_of(node, span, detail)) {
      const bool answers = !is_in(node.down, part.from);
      pieces.add("up", target, part, answers ? 1 : 0);
      if (answers) scrape(node, target, part, pieces);
    }
  }
  return pieces.series();
}

std::vector<Series> series_of_remediator(const Fleet& fleet) {
  std::set<seconds> changes{seconds(0), fleet.end};
  for (const Span& span : fleet.held) {
    changes.insert({std::min(span.from, fleet.end), std::min(span.to, fleet.end)});
  }
  Pieces pieces(fleet.end);
  for (const std::string replica : {"0", "1"}) {
    const Labels target{{"job", "gpuward-remediator"},
                        {"instance", "remediator-" + replica + ":10982"}};
    const Span month{seconds(0), fleet.end};
    pieces.add("up", target, month, 1);
    pieces.add("gpuward_remediator_ready", target, month, 1);
    pieces.add("gpuward_remediator_leads", target, month, replica == "0" ? 1 : 0);
    Labels held = target;
    held.insert({{"phase", "Held"}, {"severity", "reset"}});
    for (auto at = changes.begin(); *at < fleet.end; ++at) {
      const auto count =
          std::ranges::count_if(fleet.held, [&](const Span& span) { return span.contains(*at); });
      pieces.add("gpuward_remediator_remediations", held, {*at, *std::next(at)},
                 static_cast<double>(count));
    }
  }
  return pieces.series();
}

}  // namespace gpuward::alerts
