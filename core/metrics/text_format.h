// Families as Prometheus text (format 0.0.4). prometheus-cpp's serializer writes it; text that the
// serializer does not check (HELP with newlines, label values that are not UTF-8) is made safe
// first. prometheus-cpp is included in text_format.cpp only.
#pragma once

#include <string>
#include <string_view>

#include "core/metrics/family.h"

namespace gpuward::metrics {

// Prometheus 3 refuses a scrape with an unknown Content-Type.
inline constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

// Label values are cut at 1 KiB.
[[nodiscard]] std::string to_text(const Families& families);

}  // namespace gpuward::metrics
