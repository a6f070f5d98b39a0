#include "core/metrics/text_format.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <sstream>

#include "core/runtime/text.h"

namespace gpuward::metrics {
namespace {

constexpr std::size_t kMaxValueBytes = 1024;

prometheus::ClientMetric labelled(const LabelNames& names, const Labels& values) {
  prometheus::ClientMetric metric;
  metric.label.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    metric.label.push_back({std::string(names.at(i)), to_valid_utf8(values[i], kMaxValueBytes)});
  }
  return metric;
}

prometheus::ClientMetric convert(const Sample& sample, const Declaration& declared) {
  prometheus::ClientMetric metric = labelled(declared.labels, sample.labels);
  (declared.type == Type::kCounter ? metric.counter.value : metric.gauge.value) = sample.value;
  return metric;
}

// The serializer itself adds the +Inf bucket.
prometheus::ClientMetric convert(const HistogramSample& sample, const Declaration& declared) {
  prometheus::ClientMetric metric = labelled(declared.labels, sample.labels);
  metric.histogram.sample_count = sample.value.count();
  metric.histogram.sample_sum = sample.value.sum();
  for (std::size_t i = 0; i < sample.value.bounds().size(); ++i) {
    metric.histogram.bucket.push_back(
        {.cumulative_count = sample.value.up_to(i), .upper_bound = sample.value.bounds()[i]});
  }
  return metric;
}

prometheus::MetricType type_of(Type type) {
  switch (type) {
    case Type::kCounter:
      return prometheus::MetricType::Counter;
    case Type::kGauge:
      return prometheus::MetricType::Gauge;
    case Type::kHistogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

// The serializer writes HELP unescaped: it must have no newline, and a backslash begins an escape.
std::string safe_help(std::string_view help) {
  std::string safe;
  for (const char c : to_valid_utf8(help, kMaxValueBytes)) {
    if (c == '\\') safe += c;
    safe += c;
  }
  return safe;
}

void append_text(const Family& family, std::string& out) {
  if (family.samples.empty() && family.histograms.empty()) return;
  std::vector<prometheus::MetricFamily> one(1);
  one.front().name = family.name;
  one.front().help = safe_help(family.declared.help);
  one.front().type = type_of(family.declared.type);
  one.front().metric.reserve(family.samples.size() + family.histograms.size());
  for (const Sample& sample : family.samples) {
    one.front().metric.push_back(convert(sample, family.declared));
  }
  for (const HistogramSample& sample : family.histograms) {
    one.front().metric.push_back(convert(sample, family.declared));
  }
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, one);
  out += text.view();
}

}  // namespace

std::string to_text(const Families& families) {
  std::string text;
  for (const Family& family : families) append_text(family, text);
  return text;
}

}  // namespace gpuward::metrics
