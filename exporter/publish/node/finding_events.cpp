#include "exporter/publish/node/finding_events.h"

#include <algorithm>
#include <utility>

#include "core/runtime/text.h"
#include "exporter/publish/node/condition_text.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kLongestReason = 128;  // limit of the API server
constexpr std::size_t kMostPlaces = 16;      // in a message

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string name_of(const Finding& finding) {
  return finding.code.empty() ? finding.check : finding.check + " " + finding.code;
}

struct Found {
  const Finding* worst = nullptr;
  std::set<std::string> places;
  std::set<std::string> unchecked;  // from before this boot, without a check since
  [[nodiscard]] bool is_seen() const { return !places.empty(); }
};

std::map<std::string, Found> found_in(const Snapshot& snapshot) {
  std::map<std::string, Found> found;
  for (const auto& [key, finding] : snapshot.state.findings) {
    const bool is_unchecked = finding.severity == Severity::kNone;
    if (is_unchecked && finding.cleared_by != ClearedBy::kCheck) continue;  // over
    Found& one = found[event_reason(finding.check, finding.code)];
    if (one.worst == nullptr || finding.severity > one.worst->severity) one.worst = &finding;
    (is_unchecked ? one.unchecked : one.places).insert(finding.pci_bus_id);
  }
  return found;
}

std::string list_of(const std::set<std::string>& places) {
  std::string text;
  std::size_t named = 0;
  for (const std::string& place : places) {
    if (place.empty()) continue;
    if (named++ == kMostPlaces) return text + ", ...";
    text += (text.empty() ? "" : ", ") + place;
  }
  return text;
}

}  // namespace

std::string event_reason(std::string_view check, std::string_view code) {
  std::string text(code);
  if (code.empty())
    text = check.substr(std::min(check.find_first_not_of("0123456789-"), check.size()));
  if (!code.empty() && is_digit(code.front())) text = std::string(check) + "_" + text;
  std::string reason;
  bool begins = true;
  for (const char c : text) {
    const bool is_part = is_letter(c) || is_digit(c);
    if (is_part && reason.size() < kLongestReason)
      reason += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    begins = !is_part;
  }
  return reason;
}

FindingEvents::FindingEvents(const Snapshot& known) {
  for (auto& [reason, found] : found_in(known)) {
    found.places.merge(found.unchecked);
    told_[reason] = {.places = std::move(found.places), .name = name_of(*found.worst)};
  }
}

std::vector<FindingEvent> FindingEvents::due(const Snapshot& snapshot, Clock::Steady now) {
  const std::map<std::string, Found> found = found_in(snapshot);
  std::vector<FindingEvent> events;
  next_ = Clock::Steady::max();
  const auto is_paused = [&](const Told& told) {
    if (told.at == Clock::Steady::min() || now >= told.at + kShortestPause) return false;
    next_ = std::min(next_, told.at + kShortestPause);
    return true;
  };
  for (const auto& [reason, one] : found) {
    if (!one.is_seen()) continue;
    Told& told = told_[reason];
    if (told.name.empty()) told.name = name_of(*one.worst);
    if (std::ranges::includes(told.places, one.places)) {
      std::erase_if(told.places, [&](const std::string& place) {
        return !one.places.contains(place) && !one.unchecked.contains(place);
      });
      continue;
    }
    if (is_paused(told)) continue;
    std::string message = describe(snapshot, *one.worst);
    if (one.places.size() > 1) message += "; on " + list_of(one.places);
    events.push_back({reason, true, std::move(message), one.places});
  }
  for (auto entry = told_.begin(); entry != told_.end();) {
    auto& [reason, told] = *entry;
    const bool is_gone = !found.contains(reason);
    if (is_gone && is_paused(told)) {
      ++entry;
    } else if (is_gone && told.places.empty()) {
      entry = told_.erase(entry);  // its end was reported, and the pause is over
    } else {
      if (is_gone) {
        const std::string places = list_of(told.places);
        events.push_back({reason,
                          false,
                          told.name + " is gone" + (places.empty() ? "" : " from " + places),
                          {}});
      }
      ++entry;
    }
  }
  return events;
}

void FindingEvents::mark_told(const FindingEvent& event, Clock::Steady now) {
  Told& told = told_[event.reason];
  told.places = event.places;
  told.at = now;
}

}  // namespace gpuward::exporter
