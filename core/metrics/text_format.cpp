#include "core/metrics/text_format.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <sstream>

#include "core/runtime/text.h"

namespace gpuward::metrics {
namespace {

constexpr std::size_t kMaxValueBytes = 1024;

prometheus::ClientMetric convert(const Sample& sample, Type type) {
  prometheus::ClientMetric metric;
  metric.label.reserve(sample.labels.size());
  for (const auto& [name, value] : sample.labels) {
    metric.label.push_back({name, to_valid_utf8(value, kMaxValueBytes)});
  }
  (type == Type::kCounter ? metric.counter.value : metric.gauge.value) = sample.value;
  return metric;
}

// The serializer writes HELP as it is: no newline may be in it, and a backslash begins an escape.
std::string safe_help(std::string_view help) {
  std::string safe;
  for (const char c : to_valid_utf8(help, kMaxValueBytes)) {
    if (c == '\\') safe += c;
    safe += c;
  }
  return safe;
}

}  // namespace

void append_text(const Family& family, std::string& out) {
  if (family.samples.empty()) return;
  std::vector<prometheus::MetricFamily> one(1);
  one.front().name = family.name;
  one.front().help = safe_help(family.help);
  one.front().type = family.type == Type::kCounter ? prometheus::MetricType::Counter
                                                   : prometheus::MetricType::Gauge;
  one.front().metric.reserve(family.samples.size());
  for (const Sample& sample : family.samples) {
    one.front().metric.push_back(convert(sample, family.type));
  }
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, one);
  out += text.view();
}

std::string to_text(std::span<const Family> families) {
  std::string text;
  for (const Family& family : families) append_text(family, text);
  return text;
}

}  // namespace gpuward::metrics
