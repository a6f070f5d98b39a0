// The errors of the fake API, with the text of the real one: every function makes the Status that
// kube-apiserver 1.37 sends in that case. Used by all parts of the fake.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/json.h"

namespace gpuward::fakes {

struct Failure {
  int code = 500;
  std::string reason;  // empty if the real server omits it
  std::string message;
  Json details = nullptr;
};

template <typename T>
using Outcome = std::expected<T, Failure>;
using Check = Outcome<void>;

// The fault of one field, as in `details.causes` of a 422.
struct Cause {
  std::string reason, message, field;
};

// The subject of a message: {"gpuward.dev", "remediations", "Remediation"}.
struct About {
  std::string group, plural, kind;
};

[[nodiscard]] std::unexpected<Failure> bad_request(std::string message);
[[nodiscard]] std::unexpected<Failure> not_found(const About& about, std::string_view name);
[[nodiscard]] std::unexpected<Failure> no_such_path();
// A group or version that is not served: not a Status but the text "404 page not found".
[[nodiscard]] std::unexpected<Failure> no_such_page();
[[nodiscard]] std::unexpected<Failure> method_not_allowed();
[[nodiscard]] std::unexpected<Failure> already_exists(const About& about, std::string_view name);
[[nodiscard]] std::unexpected<Failure> conflict(const About& about, std::string_view name,
                                                std::string_view why);
// For a DELETE's preconditions: it names the kind, while other conflicts name the plural.
[[nodiscard]] std::unexpected<Failure> precondition_failed(const About& about,
                                                           std::string_view name,
                                                           const std::string& why);
[[nodiscard]] std::unexpected<Failure> modified(const About& about, std::string_view name);
[[nodiscard]] std::unexpected<Failure> invalid(const About& about, std::string_view name,
                                               const std::vector<Cause>& causes);
[[nodiscard]] std::unexpected<Failure> unauthorized();
[[nodiscard]] std::unexpected<Failure> unsupported_media_type(std::string_view accepted);
// A 410 with that message: "too old resource version: 1 (9)".
[[nodiscard]] Failure expired(std::string message);

// The Status object; kind, apiVersion and metadata as the real one writes them.
[[nodiscard]] Json to_status(const Failure& failure);

}  // namespace gpuward::fakes
