#include "core/runtime/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <optional>

#include "core/runtime/text.h"

namespace gpuward {
namespace {

constexpr int kWindowBits = 15;
constexpr int kGzipHeader = 16;  // added to the window bits: gzip instead of zlib framing
constexpr int kLevel = 5;        // half of the time of level 9 for 2% more bytes on metric text
constexpr int kMemoryLevel = 8;

// A q of zero in any spelling ("0", "0.", "0.000") refuses; any other value accepts, broken ones
// too.
bool refuses(std::string_view parameters) {
  while (!parameters.empty()) {
    const auto end = std::min(parameters.find(';'), parameters.size());
    const std::string_view one = trim(parameters.substr(0, end));
    parameters.remove_prefix(std::min(end + 1, parameters.size()));
    if (one.size() < 3 || to_lower(one.substr(0, 2)) != "q=") continue;
    const std::string_view weight = one.substr(2);
    return weight.front() == '0' && weight.find_first_not_of("0.") == std::string_view::npos;
  }
  return false;
}

}  // namespace

std::string gzip(std::string_view plain) {
  z_stream stream{};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kWindowBits + kGzipHeader, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return {};
  }
  std::string packed(deflateBound(&stream, plain.size()), '\0');
  // zlib's interface is older than const; it does not write to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int outcome = deflate(&stream, Z_FINISH);
  packed.resize(outcome == Z_STREAM_END ? stream.total_out : 0);
  deflateEnd(&stream);
  return packed;
}

bool accepts_gzip(std::string_view accept_encoding) {
  std::optional<bool> named;
  std::optional<bool> any;
  while (!accept_encoding.empty()) {
    const auto end = std::min(accept_encoding.find(','), accept_encoding.size());
    const std::string_view item = accept_encoding.substr(0, end);
    accept_encoding.remove_prefix(std::min(end + 1, accept_encoding.size()));
    const auto semicolon = std::min(item.find(';'), item.size());
    const std::string coding = to_lower(trim(item.substr(0, semicolon)));
    const bool taken = !refuses(item.substr(semicolon));
    if (coding == "gzip" || coding == "x-gzip") named = taken;
    if (coding == "*") any = taken;
  }
  return named.value_or(any.value_or(false));
}

}  // namespace gpuward
