#include "core/metrics/exposition.h"

#include <utility>

#include "core/metrics/text_format.h"
#include "core/runtime/gzip.h"

namespace gpuward::metrics {

Exposition::Choice Exposition::choose(std::string_view accept_encoding) const {
  if (packed && accepts_gzip(accept_encoding)) return {packed, true};
  return {text, false};
}

Exposition pack(std::string text) {
  Exposition exposition;
  std::string packed = gzip(text);
  text.shrink_to_fit();
  packed.shrink_to_fit();
  exposition.text = std::make_shared<const std::string>(std::move(text));
  if (!packed.empty()) exposition.packed = std::make_shared<const std::string>(std::move(packed));
  return exposition;
}

Exposition render(const Families& families) { return pack(to_text(families)); }

Exposition CurrentExposition::get() const {
  const std::lock_guard lock(mutex_);
  return exposition_;
}

void CurrentExposition::set(Exposition exposition) {
  const std::lock_guard lock(mutex_);
  std::swap(exposition_, exposition);  // the old one is freed after the lock, by `exposition`
}

}  // namespace gpuward::metrics
