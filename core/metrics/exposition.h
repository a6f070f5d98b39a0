// The bytes of a scrape, plain and gzipped, rendered once per change and shared by all scrapes.
// Immutable: a new one replaces it as a whole.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/metrics/family.h"

namespace gpuward::metrics {

struct Exposition {
  std::shared_ptr<const std::string> text;
  std::shared_ptr<const std::string> packed;  // gzip; null if packing failed

  // The body for a client with this Accept-Encoding header; the flag says whether it is packed.
  struct Choice {
    std::shared_ptr<const std::string> body;
    bool is_packed = false;
  };
  [[nodiscard]] Choice choose(std::string_view accept_encoding) const;
};

[[nodiscard]] Exposition render(const Families& families);
[[nodiscard]] Exposition pack(std::string text);

// Holds the newest exposition. Any thread; readers copy two pointers under a lock.
class CurrentExposition {
 public:
  [[nodiscard]] Exposition get() const;
  void set(Exposition exposition);

 private:
  mutable std::mutex mutex_;
  Exposition exposition_;
};

}  // namespace gpuward::metrics
